// SPDX-License-Identifier: MIT
// Without nghttp2 there is nothing here: a build without tests does not need it.
#if __has_include(<nghttp2/nghttp2.h>)

#include <stdlib.h>
#include <string.h>

#include "CNGHTTP2Peer.h"
#include "Octets.h"

// What a stream has to send.
typedef struct message {
    struct message *next;
    int32_t stream;
    octets_buffer content;
    size_t sent;
    bool is_over;
    octets_buffer trailers;
    bool has_trailers;
} message;

struct nghttp2_peer {
    nghttp2_session *session;
    octets_buffer records;
    octets_buffer lent_records;
    octets_buffer output;
    message *messages;
};

// MARK: records

static void record(
    nghttp2_peer *peer, uint8_t kind, int32_t stream, uint32_t number, const void *octets, size_t count) {
    octets_append(&peer->records, &kind, 1);
    octets_append_number(&peer->records, (uint32_t)stream);
    octets_append_number(&peer->records, number);
    octets_append_number(&peer->records, (uint32_t)count);
    octets_append(&peer->records, octets, count);
}

static int frame_came(nghttp2_session *session, const nghttp2_frame *frame, void *peer) {
    (void)session;
    record(
        peer, NGHTTP2_PEER_FRAME, frame->hd.stream_id, frame->hd.type | (uint32_t)frame->hd.flags << 8, NULL,
        0);
    return 0;
}

static int headers_begin(nghttp2_session *session, const nghttp2_frame *frame, void *peer) {
    (void)session;
    uint32_t category = frame->hd.type == NGHTTP2_HEADERS ? frame->headers.cat : 0xFF;
    record(peer, NGHTTP2_PEER_HEADERS, frame->hd.stream_id, category, NULL, 0);
    return 0;
}

static int field_came(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_count,
    const uint8_t *value, size_t value_count, uint8_t flags, void *peer) {
    (void)session;
    octets_buffer field = {0};
    octets_append_field(&field, name, name_count, value, value_count, flags);
    record(peer, NGHTTP2_PEER_FIELD, frame->hd.stream_id, 0, field.start, field.count);
    free(field.start);
    return 0;
}

static int content_came(
    nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *octets, size_t count, void *peer) {
    (void)session;
    (void)flags;
    record(peer, NGHTTP2_PEER_CONTENT, stream, 0, octets, count);
    return 0;
}

static int stream_closed(nghttp2_session *session, int32_t stream, uint32_t code, void *peer) {
    (void)session;
    record(peer, NGHTTP2_PEER_CLOSED, stream, code, NULL, 0);
    return 0;
}

static int invalid_frame_came(
    nghttp2_session *session, const nghttp2_frame *frame, int error, void *peer) {
    (void)session;
    record(peer, NGHTTP2_PEER_INVALID, frame->hd.stream_id, (uint32_t)-error, NULL, 0);
    return 0;
}

// MARK: the session

nghttp2_peer *nghttp2_peer_create(bool is_server) {
    nghttp2_peer *peer = calloc(1, sizeof *peer);
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    if (peer == NULL || nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) {
        abort();
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_came);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headers_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, field_came);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, content_came);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, invalid_frame_came);
    nghttp2_option_set_no_auto_window_update(option, 1);
    // Both ends mean well, and say much in little time.
    nghttp2_option_set_stream_reset_rate_limit(option, 1000000, 1000000);
    nghttp2_option_set_max_outbound_ack(option, 1000000);
    nghttp2_option_set_builtin_recv_extension_type(option, NGHTTP2_PRIORITY_UPDATE);
    int error = is_server ? nghttp2_session_server_new2(&peer->session, callbacks, peer, option)
                          : nghttp2_session_client_new2(&peer->session, callbacks, peer, option);
    if (error != 0) abort();
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    return peer;
}

void nghttp2_peer_destroy(nghttp2_peer *peer) {
    nghttp2_session_del(peer->session);
    while (peer->messages != NULL) {
        message *next = peer->messages->next;
        free(peer->messages->content.start);
        free(peer->messages->trailers.start);
        free(peer->messages);
        peer->messages = next;
    }
    free(peer->records.start);
    free(peer->lent_records.start);
    free(peer->output.start);
    free(peer);
}

int nghttp2_peer_settings(nghttp2_peer *peer, const uint32_t *pairs, size_t count) {
    nghttp2_settings_entry entries[16];
    if (count > 32) abort();
    for (size_t pair = 0; pair < count / 2; pair++) {
        entries[pair].settings_id = (int32_t)pairs[pair * 2];
        entries[pair].value = pairs[pair * 2 + 1];
    }
    return nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, entries, count / 2);
}

// MARK: messages

static message *message_of(nghttp2_peer *peer, int32_t stream) {
    for (message *found = peer->messages; found != NULL; found = found->next) {
        if (found->stream == stream) return found;
    }
    return NULL;
}

static message *add_message(nghttp2_peer *peer) {
    message *made = calloc(1, sizeof *made);
    if (made == NULL) abort();
    made->next = peer->messages;
    peer->messages = made;
    return made;
}

static ssize_t read_content(
    nghttp2_session *session, int32_t stream, uint8_t *room, size_t count, uint32_t *flags,
    nghttp2_data_source *source, void *peer) {
    (void)peer;
    message *content = source->ptr;
    size_t left = content->content.count - content->sent;
    if (left == 0 && !content->is_over) return NGHTTP2_ERR_DEFERRED;
    if (count > left) count = left;
    if (count > 0) memcpy(room, content->content.start + content->sent, count);
    content->sent += count;
    if (content->is_over && content->sent == content->content.count) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (content->has_trailers) {
            size_t field_count;
            nghttp2_nv *all =
                octets_fields(content->trailers.start, content->trailers.count, &field_count);
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            int error = nghttp2_submit_trailer(session, stream, all, field_count);
            free(all);
            if (error != 0) return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }
    return (ssize_t)count;
}

int32_t nghttp2_peer_request(nghttp2_peer *peer, const uint8_t *fields, size_t count, bool ends) {
    size_t field_count;
    nghttp2_nv *all = octets_fields(fields, count, &field_count);
    message *content = add_message(peer);
    nghttp2_data_provider provider = {{.ptr = content}, read_content};
    int32_t stream =
        nghttp2_submit_request(peer->session, NULL, all, field_count, ends ? NULL : &provider, NULL);
    content->stream = stream;
    free(all);
    return stream;
}

int nghttp2_peer_respond(
    nghttp2_peer *peer, int32_t stream, const uint8_t *fields, size_t count, bool ends) {
    size_t field_count;
    nghttp2_nv *all = octets_fields(fields, count, &field_count);
    message *content = add_message(peer);
    content->stream = stream;
    nghttp2_data_provider provider = {{.ptr = content}, read_content};
    int error =
        nghttp2_submit_response(peer->session, stream, all, field_count, ends ? NULL : &provider);
    free(all);
    return error;
}

int nghttp2_peer_interim(nghttp2_peer *peer, int32_t stream, const uint8_t *fields, size_t count) {
    size_t field_count;
    nghttp2_nv *all = octets_fields(fields, count, &field_count);
    int error =
        nghttp2_submit_headers(peer->session, NGHTTP2_FLAG_NONE, stream, NULL, all, field_count, NULL);
    free(all);
    return error;
}

int nghttp2_peer_content(
    nghttp2_peer *peer, int32_t stream, const uint8_t *octets, size_t count, bool ends) {
    message *content = message_of(peer, stream);
    if (content == NULL || content->is_over) return NGHTTP2_ERR_INVALID_STATE;
    octets_append(&content->content, octets, count);
    content->is_over = ends;
    // It fails when nothing was deferred, which is no error here.
    nghttp2_session_resume_data(peer->session, stream);
    return 0;
}

int nghttp2_peer_trailers(nghttp2_peer *peer, int32_t stream, const uint8_t *fields, size_t count) {
    message *content = message_of(peer, stream);
    if (content == NULL || content->is_over) return NGHTTP2_ERR_INVALID_STATE;
    octets_append(&content->trailers, fields, count);
    content->has_trailers = true;
    content->is_over = true;
    nghttp2_session_resume_data(peer->session, stream);
    return 0;
}

int nghttp2_peer_reset(nghttp2_peer *peer, int32_t stream, uint32_t code) {
    return nghttp2_submit_rst_stream(peer->session, NGHTTP2_FLAG_NONE, stream, code);
}

int nghttp2_peer_ping(nghttp2_peer *peer) {
    return nghttp2_submit_ping(peer->session, NGHTTP2_FLAG_NONE, NULL);
}

int nghttp2_peer_window(nghttp2_peer *peer, int32_t stream, int32_t size) {
    return nghttp2_session_set_local_window_size(peer->session, NGHTTP2_FLAG_NONE, stream, size);
}

int nghttp2_peer_announce_leave(nghttp2_peer *peer) { return nghttp2_submit_shutdown_notice(peer->session); }

int nghttp2_peer_leave(nghttp2_peer *peer) {
    int32_t last = nghttp2_session_get_last_proc_stream_id(peer->session);
    return nghttp2_submit_goaway(peer->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0);
}

int nghttp2_peer_consume(nghttp2_peer *peer, int32_t stream, size_t count) {
    return nghttp2_session_consume(peer->session, stream, count);
}

// MARK: octets

ptrdiff_t nghttp2_peer_receive(nghttp2_peer *peer, const uint8_t *octets, size_t count) {
    return nghttp2_session_mem_recv(peer->session, octets, count);
}

nghttp2_peer_octets nghttp2_peer_send(nghttp2_peer *peer) {
    peer->output.count = 0;
    for (;;) {
        const uint8_t *octets;
        ssize_t count = nghttp2_session_mem_send(peer->session, &octets);
        if (count < 0) return (nghttp2_peer_octets){NULL, (size_t)-count};
        if (count == 0) break;
        octets_append(&peer->output, octets, (size_t)count);
    }
    return (nghttp2_peer_octets){peer->output.start, peer->output.count};
}

nghttp2_peer_octets nghttp2_peer_records(nghttp2_peer *peer) {
    octets_buffer records = peer->records;
    peer->records = peer->lent_records;
    peer->records.count = 0;
    peer->lent_records = records;
    return (nghttp2_peer_octets){records.start, records.count};
}

// MARK: what is known

bool nghttp2_peer_is_over(nghttp2_peer *peer) {
    return !nghttp2_session_want_read(peer->session) && !nghttp2_session_want_write(peer->session);
}

int32_t nghttp2_peer_send_room(nghttp2_peer *peer) {
    return nghttp2_session_get_remote_window_size(peer->session);
}

int32_t nghttp2_peer_taken(nghttp2_peer *peer) {
    return nghttp2_session_get_effective_recv_data_length(peer->session);
}

int32_t nghttp2_peer_window_size(nghttp2_peer *peer) {
    return nghttp2_session_get_effective_local_window_size(peer->session);
}

size_t nghttp2_peer_encoder_table(nghttp2_peer *peer) {
    return nghttp2_session_get_hd_deflate_dynamic_table_size(peer->session);
}

size_t nghttp2_peer_decoder_table(nghttp2_peer *peer) {
    return nghttp2_session_get_hd_inflate_dynamic_table_size(peer->session);
}

#endif
