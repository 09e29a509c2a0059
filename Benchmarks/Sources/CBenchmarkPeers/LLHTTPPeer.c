// SPDX-License-Identifier: MIT
// llhttp as a client uses it: callbacks record the status and every name and value.
#include "CBenchmarkPeers.h"

#if __has_include(<llhttp/llhttp.c>) && __has_include(<llhttp.h>)
#include <llhttp.h>
#include <stdlib.h>
#include <string.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

const char *peer_llhttp_version(void) {
    return TEXT(LLHTTP_VERSION_MAJOR) "." TEXT(LLHTTP_VERSION_MINOR) "." TEXT(LLHTTP_VERSION_PATCH);
}

#define MAXIMUM_FIELDS 128

struct message {
    struct peer_span reason;
    struct peer_field fields[MAXIMUM_FIELDS];
    size_t count;
    bool keeps_alive;
    int status;
    uint64_t body;
    int stop_after_head;
};

static int on_status(llhttp_t *parser, const char *at, size_t length) {
    struct message *message = parser->data;
    message->reason = (struct peer_span){(const uint8_t *)at, length};
    return 0;
}

static int on_name(llhttp_t *parser, const char *at, size_t length) {
    struct message *message = parser->data;
    if (message->count == MAXIMUM_FIELDS) return HPE_USER;
    message->fields[message->count].name = (struct peer_span){(const uint8_t *)at, length};
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t length) {
    struct message *message = parser->data;
    message->fields[message->count++].value = (struct peer_span){(const uint8_t *)at, length};
    return 0;
}

static int on_head(llhttp_t *parser) {
    struct message *message = parser->data;
    message->status = llhttp_get_status_code(parser);
    message->keeps_alive = llhttp_should_keep_alive(parser);
    return message->stop_after_head;
}

static int on_body(llhttp_t *parser, const char *at, size_t length) {
    struct message *message = parser->data;
    (void)at;
    message->body += length;
    return 0;
}

static void set(llhttp_settings_t *settings) {
    llhttp_settings_init(settings);
    settings->on_status = on_status;
    settings->on_header_field = on_name;
    settings->on_header_value = on_value;
    settings->on_headers_complete = on_head;
    settings->on_body = on_body;
}

/// Copies all names and values into one block, as for a list that outlives the receive buffer.
static uint8_t *copy_fields(struct message *message) {
    size_t total = 0;
    for (size_t index = 0; index < message->count; index++)
        total += message->fields[index].name.count + message->fields[index].value.count;
    size_t table = message->count * sizeof(struct peer_field);
    uint8_t *block = malloc(table + total);
    if (block == NULL) abort();
    struct peer_field *fields = (struct peer_field *)block;
    uint8_t *next = block + table;
    for (size_t index = 0; index < message->count; index++) {
        struct peer_field field = message->fields[index];
        memcpy(next, field.name.start, field.name.count);
        fields[index].name = (struct peer_span){next, field.name.count};
        next += field.name.count;
        memcpy(next, field.value.start, field.value.count);
        fields[index].value = (struct peer_span){next, field.value.count};
        next += field.value.count;
    }
    return block;
}

uint64_t peer_llhttp_heads(
    const uint8_t *bytes, size_t count, enum peer_llhttp_way way, uint64_t times) {
    llhttp_settings_t settings;
    set(&settings);
    struct message message;
    llhttp_t parser;
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    parser.data = &message;
    uint64_t sum = 0;
    for (uint64_t run = 0; run < times; run++) {
        message.count = 0;
        message.body = 0;
        message.stop_after_head = 1;
        if (way == PEER_LLHTTP_FRESH) {
            llhttp_init(&parser, HTTP_RESPONSE, &settings);
            parser.data = &message;
        }
        if (llhttp_execute(&parser, (const char *)bytes, count) != HPE_OK) return 0;
        sum += (uint64_t)message.status + 1000 * message.count;
        if (way == PEER_LLHTTP_OWNED) {
            uint8_t *block = copy_fields(&message);
            sum += block[0] == 0xFF;
            free(block);
        }
    }
    return sum;
}

uint64_t peer_llhttp_response(const uint8_t *bytes, size_t count, uint64_t times) {
    llhttp_settings_t settings;
    set(&settings);
    struct message message;
    llhttp_t parser;
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    parser.data = &message;
    uint64_t sum = 0;
    for (uint64_t run = 0; run < times; run++) {
        message.count = 0;
        message.body = 0;
        message.stop_after_head = 0;
        if (llhttp_execute(&parser, (const char *)bytes, count) != HPE_OK) return 0;
        sum += message.body;
    }
    return sum;
}

#else

const char *peer_llhttp_version(void) { return 0; }

uint64_t peer_llhttp_heads(
    const uint8_t *bytes, size_t count, enum peer_llhttp_way way, uint64_t times) {
    (void)bytes, (void)count, (void)way, (void)times;
    return 0;
}

uint64_t peer_llhttp_response(const uint8_t *bytes, size_t count, uint64_t times) {
    (void)bytes, (void)count, (void)times;
    return 0;
}

#endif
