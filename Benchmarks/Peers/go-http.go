// SPDX-License-Identifier: MIT
// Go's net/http doing GETs, N goroutines at a time: what a Go program gets from its standard library.
//
//	go-http [--http2] [MODE [1.2|1.3 CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS
//
// A PATH that ends with ? gets a number at each request.
// With --http2, which is for TLS only, it is one HTTP/2 connection, and CONNECTIONS are streams.
// The modes are those of curl-multi and, over TLS, of tls-floor: get, full, resumed, idle, hold. Prints the JSON object that the
// benchmarks read. A round of requests before the clock starts makes the connections.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type job struct {
	shares                     bool
	mode, version, authorities string
	urls                       []string
	connections, requests      int
}

func stop(what ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"go-http:"}, what...)...)
	os.Exit(1)
}

func read(arguments []string) job {
	result := job{mode: "get"}
	if len(arguments) > 0 && arguments[0] == "--http2" {
		result.shares, arguments = true, arguments[1:]
	}
	if len(arguments) < 5 || len(arguments) == 7 || len(arguments) > 8 {
		stop("[--http2] [MODE [1.2|1.3 CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS")
	}
	terms, target := arguments[:len(arguments)-5], arguments[len(arguments)-5:]
	if len(terms) > 0 {
		result.mode = terms[0]
	}
	scheme := "http"
	if len(terms) == 3 {
		scheme, result.version, result.authorities = "https", terms[1], terms[2]
	}
	host, many, _ := strings.Cut(target[0], "x")
	hosts, _ := strconv.Atoi(many)
	first := net.ParseIP(host).To4()
	if first == nil {
		stop("HOST is no IPv4 address")
	}
	number := uint32(first[0])<<24 | uint32(first[1])<<16 | uint32(first[2])<<8 | uint32(first[3])
	for index := uint32(0); index == 0 || index < uint32(hosts); index++ {
		now := number + index
		name := net.IPv4(byte(now>>24), byte(now>>16), byte(now>>8), byte(now))
		result.urls = append(result.urls, fmt.Sprintf("%s://%s:%s%s", scheme, name, target[1], target[2]))
	}
	result.connections, _ = strconv.Atoi(target[3])
	result.requests, _ = strconv.Atoi(target[4])
	if result.connections < 1 || result.requests < 1 {
		stop("CONNECTIONS and REQUESTS are counts")
	}
	return result
}

var connects, resumed, bytes int64

// shares is whether all requests go over one HTTP/2 connection.
var shares bool

// together is what all requests of idle wait for behind their heads.
var together *sync.WaitGroup

// once is what a first request asks for: of a server that holds requests, one that it does not hold.
func (job job) once() []string {
	url := job.urls[0]
	slash := strings.LastIndex(url, "/")
	if url[slash+1] < '0' || url[slash+1] > '9' {
		return job.urls
	}
	return []string{url[:slash] + "/1"}
}

func (job job) client() *http.Client {
	transport := &http.Transport{
		MaxIdleConns: 0, MaxIdleConnsPerHost: job.connections, MaxConnsPerHost: job.connections,
		DisableKeepAlives: job.mode == "full" || job.mode == "resumed", DisableCompression: true,
	}
	dialer := &net.Dialer{}
	transport.DialContext = dialer.DialContext
	if job.version != "" {
		file, err := os.ReadFile(job.authorities)
		if err != nil {
			stop(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(file)
		version := map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[job.version]
		settings := &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version}
		if job.mode == "resumed" {
			settings.ClientSessionCache = tls.NewLRUClientSessionCache(64)
		}
		settings.VerifyConnection = func(state tls.ConnectionState) error {
			if state.DidResume {
				atomic.AddInt64(&resumed, 1)
			}
			return nil
		}
		transport.TLSClientConfig = settings
		transport.ForceAttemptHTTP2 = job.shares
	}
	dial := transport.DialContext
	transport.DialContext = func(with context.Context, network, address string) (net.Conn, error) {
		atomic.AddInt64(&connects, 1)
		return dial(with, network, address)
	}
	return &http.Client{Transport: transport}
}

func run(client *http.Client, urls []string, connections, requests int) {
	left, next := int64(requests), int64(-1)
	var lanes sync.WaitGroup
	for lane := 0; lane < connections && lane < requests; lane++ {
		lanes.Add(1)
		go func() {
			defer lanes.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				number := atomic.AddInt64(&next, 1)
				url := urls[int(number)%len(urls)]
				if strings.HasSuffix(url, "?") {
					url += strconv.FormatInt(number, 10)
				}
				response, err := client.Get(url)
				if err != nil {
					stop(err)
				}
				if response.StatusCode != 200 {
					stop("status", response.StatusCode)
				}
				if shares && response.ProtoMajor != 2 {
					stop("version", response.Proto)
				}
				if together != nil {
					// No connection is free for another request before all have one.
					together.Done()
					together.Wait()
				}
				count, err := io.Copy(io.Discard, response.Body)
				if err != nil {
					stop(err)
				}
				response.Body.Close()
				atomic.AddInt64(&bytes, count)
			}
		}()
	}
	lanes.Wait()
}

// use is what the program has taken of user space, and how often it has given up its processor.
func use() (user, switches int64) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, 0
	}
	return usage.Utime.Nano(), usage.Nvcsw
}

func processorTime() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// inUse is what Go's heap and its goroutines' stacks hold.
func inUse(collects bool) float64 {
	if collects {
		runtime.GC()
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc + memory.StackInuse)
}

func status(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, name) {
			amount, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
			return amount
		}
	}
	return 0
}

func main() {
	job := read(os.Args[1:])
	shares = job.shares
	client := job.client()
	keeps := job.mode == "idle" || job.mode == "hold"
	first := time.Now()
	switch {
	case keeps:
		run(client, job.once(), 1, 1)
	default:
		if shares {
			// Otherwise each of the first requests would dial.
			run(client, job.urls, 1, 1)
		}
		round := job.connections
		if len(job.urls) > round {
			round = len(job.urls)
		}
		run(client, job.urls, job.connections, round)
	}
	firstTook := time.Since(first)
	if keeps && !shares {
		client.CloseIdleConnections()
		job.requests = job.connections
	}
	atomic.StoreInt64(&connects, 0)
	atomic.StoreInt64(&resumed, 0)
	atomic.StoreInt64(&bytes, 0)
	held, resident := inUse(true), status("VmRSS:")
	most := 0.0
	done := make(chan bool)
	if job.mode == "hold" {
		go func() {
			for {
				select {
				case <-done:
					done <- true
					return
				case <-time.After(10 * time.Millisecond):
					if now := inUse(false); now > most {
						most = now
					}
				}
			}
		}()
	}
	if job.mode == "idle" {
		together = &sync.WaitGroup{}
		together.Add(job.connections)
	}
	user, switches := use()
	wall, cpu := time.Now(), processorTime()
	run(client, job.urls, job.connections, job.requests)
	cpu = processorTime() - cpu
	took := time.Since(wall)
	userNow, switchesNow := use()
	if job.mode == "hold" {
		done <- true
		<-done
	} else if job.mode == "idle" {
		most = inUse(true)
	}
	fmt.Printf(
		"{\"requests\": %d, \"bytes\": %d, \"connects\": %d, \"wall\": %d, \"cpu\": %d, \"resident\": %.0f",
		job.requests, bytes, connects, took.Nanoseconds(), cpu, status("VmHWM:"))
	fmt.Printf(", \"user\": %d, \"switches\": %d", userNow-user, switchesNow-switches)
	if job.version != "" {
		fmt.Printf(", \"resumed\": %d", resumed)
	}
	if keeps {
		count := float64(job.connections)
		fmt.Printf(
			", \"heapPerConnection\": %.1f, \"residentPerConnection\": %.1f", (most-held)/count,
			(status("VmRSS:")-resident)*1024/count)
	} else if job.connections == 1 {
		fmt.Printf(", \"first\": %d", firstTook.Nanoseconds())
	}
	fmt.Println("}")
}
