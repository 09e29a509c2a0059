// SPDX-License-Identifier: MIT
// Go's net/http as Lupine's peer over HTTP/2, at both ends.
//
//	peer serve FOLDER PORT CERTIFICATE KEY
//	peer ask ROOTS URL LENGTH DIGEST
//
// `serve` answers over TLS as HTTP2PeerContent.swift says. POST /leave has a new server take the connections from then on, and
// the old one shut down: its clients are sent away (GOAWAY). `ask` puts every question of that file to the server at URL, whose
// /large is of that length and SHA-256, and ends with 1 at the first answer that is wrong.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func stop(what ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"peer:"}, what...)...)
	os.Exit(1)
}

func main() {
	switch {
	case len(os.Args) == 6 && os.Args[1] == "serve":
		serve(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	case len(os.Args) == 6 && os.Args[1] == "ask":
		ask(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	default:
		stop("serve FOLDER PORT CERTIFICATE KEY | ask ROOTS URL LENGTH DIGEST")
	}
}

// The server.

// A door is the listener of one server of many that share a socket.
type door struct {
	address net.Addr
	guests  chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (d *door) Accept() (net.Conn, error) {
	select {
	case guest := <-d.guests:
		return guest, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

func (d *door) Addr() net.Addr { return d.address }

// A house has one socket, and a server that is replaced again and again.
type house struct {
	socket  net.Listener
	config  *tls.Config
	handler http.Handler
	lock    sync.Mutex
	door    *door
	server  *http.Server
	number  atomic.Int64
}

// open has a new server take what is accepted from here on, and returns the old one.
func (h *house) open() *http.Server {
	number := h.number.Add(1)
	server := &http.Server{TLSConfig: h.config.Clone()}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Server", fmt.Sprint(number))
		// Shutdown overlooks a connection that is in its handshake: its client is sent away with the first response.
		if h.number.Load() != number {
			w.Header().Set("Connection", "close")
		}
		h.handler.ServeHTTP(w, r)
	})
	entrance := &door{address: h.socket.Addr(), guests: make(chan net.Conn), closed: make(chan struct{})}
	h.lock.Lock()
	old := h.server
	h.door, h.server = entrance, server
	h.lock.Unlock()
	go server.ServeTLS(entrance, "", "")
	return old
}

func (h *house) run() {
	for {
		guest, err := h.socket.Accept()
		if err != nil {
			stop(err)
		}
		for taken := false; !taken; {
			h.lock.Lock()
			entrance := h.door
			h.lock.Unlock()
			select {
			case entrance.guests <- guest:
				taken = true
			case <-entrance.closed:
			}
		}
	}
}

func serve(folder, port, certificate, key string) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		stop(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		stop(err)
	}
	h := &house{socket: socket, config: &tls.Config{Certificates: []tls.Certificate{pair}}}
	h.handler = handler(folder, func() {
		old := h.open()
		// It says GOAWAY and waits for nothing.
		context, cancel := context.WithCancel(context.Background())
		cancel()
		old.Shutdown(context)
	})
	h.open()
	h.run()
}

func handler(folder string, leave func()) http.Handler {
	mux := http.NewServeMux()
	for _, name := range []string{"small", "large"} {
		name := name
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeFile(w, r, filepath.Join(folder, name))
		})
	}
	// As it comes: the response begins before the request is over.
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		io.CopyBuffer(struct{ io.Writer }{w}, r.Body, make([]byte, 64<<10))
	})
	mux.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-Check, X-Got")
		io.WriteString(w, "trailers")
		w.Header().Set("X-Check", "done")
		w.Header().Set("X-Got", r.Trailer.Get("X-Sent"))
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style>")
		w.WriteHeader(103)
		w.Header().Del("Link")
		io.WriteString(w, "late")
	})
	mux.HandleFunc("/fields", func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-Field-") {
				w.Header()[name] = values
			}
		}
	})
	mux.HandleFunc("/once/", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		counts.add(path.Base(r.URL.Path))
		io.WriteString(w, r.URL.Path)
	})
	mux.HandleFunc("/counts", func(w http.ResponseWriter, r *http.Request) { counts.write(w) })
	mux.HandleFunc("/leave", func(w http.ResponseWriter, r *http.Request) { leave() })
	return mux
}

// How often each name below /once/ has been asked for.
type tally struct {
	lock  sync.Mutex
	names map[string]int
}

var counts = tally{names: map[string]int{}}

func (t *tally) add(name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.names[name]++
}

func (t *tally) write(w io.Writer) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for name, count := range t.names {
		fmt.Fprintln(w, name, count)
	}
}

// The client.

type asker struct {
	client *http.Client
	url    string
}

func ask(roots, url, length, digest string) {
	pem, err := os.ReadFile(roots)
	if err != nil {
		stop(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, ExpectContinueTimeout: time.Minute}
	a := asker{client: &http.Client{Transport: transport}, url: url}
	a.small()
	a.head()
	a.large(length, digest)
	a.echo()
	a.upload(digest)
	a.trailers()
	a.early()
	a.expect()
	a.fields()
	a.cancel()
	a.many()
}

func (a asker) do(method, path string, body io.Reader, change func(*http.Request)) (*http.Response, []byte) {
	request, err := http.NewRequest(method, a.url+path, body)
	if err != nil {
		stop(err)
	}
	if change != nil {
		change(request)
	}
	response, err := a.client.Do(request)
	if err != nil {
		stop(method, path, err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		stop(method, path, err)
	}
	if response.StatusCode != 200 || response.ProtoMajor != 2 {
		stop(method, path, response.Status, response.Proto)
	}
	return response, content
}

func check(holds bool, what ...any) {
	if !holds {
		stop(what...)
	}
}

func (a asker) small() {
	_, content := a.do("GET", "/small", nil, nil)
	check(string(content) == "small\n", "/small:", string(content))
}

func (a asker) head() {
	response, content := a.do("HEAD", "/small", nil, nil)
	check(response.ContentLength == 6 && len(content) == 0, "HEAD /small:", response.ContentLength)
}

func (a asker) large(length, digest string) {
	response, content := a.do("GET", "/large", nil, nil)
	sum := sha256.Sum256(content)
	check(fmt.Sprint(response.ContentLength) == length, "/large:", response.ContentLength)
	check(hex.EncodeToString(sum[:]) == digest, "/large: other content")
}

func (a asker) echo() {
	sent := bytes.Repeat([]byte("an echo "), 100_000)
	// No length is known beforehand.
	_, content := a.do("POST", "/echo", struct{ io.Reader }{bytes.NewReader(sent)}, nil)
	check(bytes.Equal(content, sent), "/echo: other content")
}

func (a asker) upload(digest string) {
	_, large := a.do("GET", "/large", nil, nil)
	_, content := a.do("POST", "/digest", bytes.NewReader(large), nil)
	check(string(content) == digest, "/digest:", string(content))
}

func (a asker) trailers() {
	response, content := a.do("POST", "/trailers", strings.NewReader("content"), func(r *http.Request) {
		r.ContentLength = -1
		r.Trailer = http.Header{"X-Sent": {"from Go"}}
	})
	check(string(content) == "trailers", "/trailers:", string(content))
	check(response.Trailer.Get("X-Check") == "done", "/trailers:", response.Trailer)
	check(response.Trailer.Get("X-Got") == "from Go", "/trailers:", response.Trailer)
}

func (a asker) early() {
	var codes []int
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		codes = append(codes, code)
		return nil
	}}
	_, content := a.do("GET", "/early", nil, func(r *http.Request) {
		*r = *r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	})
	check(string(content) == "late" && fmt.Sprint(codes) == "[103]", "/early:", string(content), codes)
}

func (a asker) expect() {
	_, content := a.do("POST", "/echo", strings.NewReader("expected"), func(r *http.Request) {
		r.Header.Set("Expect", "100-continue")
	})
	check(string(content) == "expected", "/echo:", string(content))
}

// Fields that fill the table again and again.
func (a asker) fields() {
	for round := 0; round < 20; round++ {
		var sent http.Header
		response, _ := a.do("GET", "/fields", nil, func(r *http.Request) {
			for number := 0; number < 40; number++ {
				r.Header.Set(fmt.Sprint("X-Field-", number), fmt.Sprint("value ", round*number))
			}
			sent = r.Header
		})
		for name, values := range sent {
			check(response.Header.Get(name) == values[0], "/fields:", name, response.Header.Get(name))
		}
	}
}

// A response that is not wanted to its end; the connection carries the next.
func (a asker) cancel() {
	for round := 0; round < 20; round++ {
		response, err := a.client.Get(a.url + "/large")
		if err != nil {
			stop("/large:", err)
		}
		io.ReadFull(response.Body, make([]byte, 1000))
		response.Body.Close()
	}
	a.small()
}

func (a asker) many() {
	var group sync.WaitGroup
	for number := 0; number < 1000; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			a.small()
		}()
	}
	group.Wait()
}
