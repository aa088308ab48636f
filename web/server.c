/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HTTP server of the live view, by civetweb: which requests are accepted, and their responses.
 */
#include "hub.h"

#include <civetweb.h>
#include <endian.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
    TOKEN_BYTES = 16,               /* random bytes of a token */
    TOKEN_LENGTH = 2 * TOKEN_BYTES, /* its hexadecimal digits */
    CHUNK = 1 << 18                 /* bytes sent between two tests if the message is dropped */
};

/* Threads of civetweb. Each connection holds one until its request is read: these are for viewers,
 * for as many connections that send nothing until their timeout, and for all other requests. */
enum { SILENT_CONNECTIONS = 256, OTHER_REQUESTS = 16 };

/** A server. */
typedef struct site {
    web_server server;            /* the hub; the first member, so that a web_server can be cast */
    struct mg_context *mg;        /* state of civetweb */
    char token[TOKEN_LENGTH + 1]; /* random token in the address, hexadecimal */
    char address[NI_MAXHOST + TOKEN_LENGTH + 32]; /* address of the page */
    bool open;                                    /* other machines can reach the server */
    int port;                                     /* port that the server listens at */
    char host[NI_MAXHOST];                        /* numeric address that the server listens at */
    char name[NI_MAXHOST + 2]; /* host in the address of the page; IPv6 in brackets */
    char trouble[256];         /* first message of civetweb */
    atomic_bool stopped;       /* civetweb has stopped */
} site;

/* The page loads nothing from other hosts, runs no inline code, and is not shown in frames. */
#define SAFETY \
    "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'\r\n" \
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n" \
    "Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\n" \
    "Connection: close\r\n"

/** Send a response of one line of text. @return the status, for civetweb */
static int answer(struct mg_connection *to, int status, const char *text)
{
    mg_printf(to,
              "HTTP/1.1 %d %s\r\n" SAFETY "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n"
              "%s\n",
              status, status == 200 ? "OK" : "Refused", strlen(text) + 1, text);
    return status;
}

/** Return a number of the query string; 0: it has no positive number of this name. */
static int64_t query(const struct mg_request_info *request, const char *name)
{
    char value[24];
    const char *text = request->query_string;
    if (!text || mg_get_var(text, strlen(text), name, value, sizeof value) <= 0) {
        return 0;
    }
    char *end;
    const long long number = strtoll(value, &end, 10);
    return *end == '\0' && number > 0 ? (int64_t)number : 0;
}

/** Return true when a request may be served: its Host header names this machine, or the server is
 *  open to other machines. After DNS rebinding, a page of another origin sends the name of its own
 *  host. */
static bool is_here(const site *s, const char *host)
{
    const char *const names[] = {"127.0.0.1", "localhost", "[::1]", s->name};
    if (!host || s->open) {
        return host != NULL;
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const size_t length = strlen(names[k]);
        if (strncmp(host, names[k], length) == 0 && (host[length] == '\0' || host[length] == ':')) {
            return true;
        }
    }
    return false;
}

/** Return true when a request comes from the page itself, by its Origin header, or has no Origin
 *  header: browsers send one with requests of other pages. */
static bool is_own_origin(const char *origin, const char *host)
{
    return !origin || (strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0) ||
           (strncmp(origin, "https://", 8) == 0 && strcmp(origin + 8, host) == 0);
}

/** Find the part of the path behind the token. The comparison takes constant time, so that it does
 *  not reveal how many characters of a wrong token are right.
 *  @return NULL: the token is wrong, or the request must be refused */
static const char *find_path(const site *s, const struct mg_connection *from)
{
    const struct mg_request_info *request = mg_get_request_info(from);
    const char *host = mg_get_header(from, "Host");
    const char *path = request->local_uri_raw;
    if (!path || strlen(path) < TOKEN_LENGTH + 2 || path[0] != '/' ||
        path[TOKEN_LENGTH + 1] != '/') {
        return NULL;
    }
    unsigned wrong = 0;
    for (int k = 0; k < TOKEN_LENGTH; k++) {
        wrong |= (unsigned)(path[k + 1] ^ s->token[k]);
    }
    return wrong == 0 && is_here(s, host) && is_own_origin(mg_get_header(from, "Origin"), host)
               ? path + TOKEN_LENGTH + 2
               : NULL;
}

/** Send a file of the page; the name "" is index.html. @return the status of HTTP */
static int send_file(struct mg_connection *to, const char *name)
{
    for (const web_file *file = web__files; file->name; file++) {
        if (strcmp(file->name, *name ? name : "index.html") == 0) {
            mg_printf(to,
                      "HTTP/1.1 200 OK\r\n" SAFETY "Content-Type: %s\r\n"
                      "Content-Length: %zu\r\n\r\n",
                      file->type, file->size);
            mg_write(to, file->data, file->size);
            return 200;
        }
    }
    return answer(to, 404, "page not found");
}

/** Send bytes. @param dropped  ends the sending early when it becomes true; NULL: never
 *  @return false when not all were sent: the viewer must be disconnected */
static bool send_all(struct mg_connection *to, const void *data, size_t size, atomic_bool *dropped)
{
    for (size_t sent = 0; sent < size;) {
        const size_t part = size - sent < CHUNK ? size - sent : CHUNK;
        if ((dropped && atomic_load(dropped)) ||
            mg_write(to, (const char *)data + sent, part) != (int)part) {
            return false;
        }
        sent += part;
    }
    return true;
}

/** Send a message with its 16 bytes (see web.h). @return false when not all was sent */
static bool send_message(struct mg_connection *to, const hub_message *m)
{
    const uint32_t head[4] = {htole32(WEB_MAGIC), htole32(m->channel), htole32((uint32_t)m->size),
                              htole32(m->version)};
    return send_all(to, head, sizeof head, NULL) &&
           (!m->blob ||
            send_all(to, m->blob->shown.data, m->size, m->blob->points ? &m->blob->dropped : NULL));
}

/** Serve a viewer: send messages until it leaves or the server closes. @return the status of
 *  HTTP */
static int send_frames(site *s, struct mg_connection *to, const struct mg_request_info *request)
{
    const int viewer = hub_enter(&s->server, (uint32_t)query(request, "client"),
                                 query(request, "window"), query(request, "points"));
    if (viewer < 0) {
        return answer(to, 503, "too many viewers");
    }
    mg_printf(to, "HTTP/1.1 200 OK\r\n" SAFETY "Content-Type: application/octet-stream\r\n\r\n");
    hub_message message;
    for (bool fine = true; fine && hub_next(&s->server, viewer, &message);) {
        fine = send_message(to, &message);
        hub_sent(&s->server, message.blob);
    }
    hub_leave(&s->server, viewer);
    return 200;
}

/** Return true when JSON is nested at most DEEPEST deep: the parser recurses at each bracket, on
 *  the small stack of a thread of civetweb. Brackets in strings count too. */
static bool is_shallow(const char *text, int size)
{
    enum { DEEPEST = 16 };
    int depth = 0;
    for (int k = 0; k < size && depth <= DEEPEST; k++) {
        depth += (text[k] == '[' || text[k] == '{') - (text[k] == ']' || text[k] == '}');
    }
    return depth <= DEEPEST;
}

/** Read a command from the body of a request, and queue it. @return the status of HTTP */
static int take_command(site *s, struct mg_connection *from, const struct mg_request_info *request)
{
    char body[WEB_MOST_COMMAND];
    const char *type = mg_get_header(from, "Content-Type");
    if (!type || strncmp(type, "application/json", strlen("application/json")) != 0) {
        return answer(from, 415, "expected application/json");
    }
    if (request->content_length < 0) {
        return answer(from, 411, "expected a Content-Length");
    }
    if (request->content_length > WEB_MOST_COMMAND) {
        return answer(from, 413, "too long");
    }
    int size = 0;
    for (int got = 1; got > 0 && size < (int)request->content_length;) {
        got = mg_read(from, body + size, (size_t)request->content_length - (size_t)size);
        size += got > 0 ? got : 0;
    }
    json_t *command = is_shallow(body, size)
                          ? json_loadb(body, (size_t)size, JSON_REJECT_DUPLICATES, NULL)
                          : NULL;
    if (!json_is_object(command)) {
        json_decref(command);
        return answer(from, 400, "expected an object of JSON");
    }
    if (!hub_put_command(&s->server, command)) {
        json_decref(command);
        return answer(from, 503, "too many commands wait");
    }
    return answer(from, 200, "taken");
}

/** Callback of civetweb: respond to a request. @return the status of HTTP, which tells civetweb
 *  that a response was sent */
static int handle(struct mg_connection *conn)
{
    site *s = mg_get_user_data(mg_get_context(conn));
    const struct mg_request_info *request = mg_get_request_info(conn);
    const char *path = find_path(s, conn);
    if (!path) {
        return answer(conn, 403, "the address needs its token, and a page of this origin");
    }
    const bool get = strcmp(request->request_method, "GET") == 0;
    if (!get && strcmp(request->request_method, "POST") != 0) {
        return answer(conn, 405, "expected GET or POST");
    }
    if (!get && strcmp(path, "seen") == 0) {
        hub_seen(&s->server, (uint32_t)query(request, "client"), query(request, "points"));
        return answer(conn, 200, "thanks");
    }
    if (!get) {
        return strcmp(path, "control") == 0 ? take_command(s, conn, request)
                                            : answer(conn, 404, "page not found");
    }
    return strcmp(path, "frames") == 0 ? send_frames(s, conn, request) : send_file(conn, path);
}

/** Callback of civetweb for its messages: keep the first one while it starts, for web_open.
 *  @return 1: civetweb does not write the message to its log */
static int keep_trouble(const struct mg_connection *conn, const char *message)
{
    site *s = mg_get_user_data(mg_get_context(conn));
    if (s && !s->mg && !s->trouble[0]) { /* while it starts */
        snprintf(s->trouble, sizeof s->trouble, "%s", message);
    }
    return 1;
}

/** Make a random token of 128 bits. @return false when the system has no random numbers */
static bool make_token(site *s)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t k = 0; k < TOKEN_BYTES; k++) {
        snprintf(s->token + 2 * k, 3, "%02x", bytes[k]);
    }
    return true;
}

/** Return true when no other machine can reach an address. */
static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    }
    const struct sockaddr_in *at = (const void *)address;
    return ntohl(at->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/** Find the numeric address of a host name or numeric address; set s->host, s->name and s->open.
 *  @return NULL, or a message that says why there is none */
static const char *find_host(site *s, const char *address)
{
    enum { IPV6 = 8 }; /* the bit of mg_check_feature */
    const bool has_ipv6 = mg_check_feature(IPV6) != 0;
    const struct addrinfo wanted = {.ai_family = has_ipv6 ? AF_UNSPEC : AF_INET,
                                    .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char bare[NI_MAXHOST];
    const bool bracket = address[0] == '[';
    const size_t length = strcspn(address + bracket, "]");
    snprintf(bare, sizeof bare, "%.*s", (int)length, address + bracket);
    if (strchr(bare, ':') && !has_ipv6) {
        return "this build has no IPv6: give 127.0.0.1, or another address of IPv4";
    }
    const int failed = getaddrinfo(bare, NULL, &wanted, &found);
    if (failed) {
        return gai_strerror(failed);
    }
    const int numeric = getnameinfo(found->ai_addr, found->ai_addrlen, s->host, sizeof s->host,
                                    NULL, 0, NI_NUMERICHOST);
    s->open = !is_loopback(found->ai_addr);
    freeaddrinfo(found);
    snprintf(s->name, sizeof s->name, strchr(bare, ':') ? "[%s]" : "%s", bare);
    return numeric ? gai_strerror(numeric) : NULL;
}

/** Start civetweb at s->host, and set s->port and s->address. @param port  0: any free port
 *  @return false on failure; s->trouble says why */
static bool listen_at(site *s, int port)
{
    char at[NI_MAXHOST + 16], threads[16];
    snprintf(at, sizeof at, strchr(s->host, ':') ? "[%s]:%d" : "%s:%d", s->host, port);
    snprintf(threads, sizeof threads, "%d", WEB_MOST_VIEWERS + SILENT_CONNECTIONS + OTHER_REQUESTS);
    const char *options[] = {"listening_ports",
                             at,
                             "num_threads",
                             threads,
                             "request_timeout_ms",
                             "5000",
                             "tcp_nodelay",
                             "1",
                             "enable_keep_alive",
                             "no",
                             "max_request_size",
                             "8192",
                             "decode_url",
                             "no",
                             NULL};
    const struct mg_callbacks callbacks = {.begin_request = handle, .log_message = keep_trouble};
    s->trouble[0] = '\0';
    s->mg = mg_start(&callbacks, s, options);
    struct mg_server_port ports[1] = {{0}};
    if (!s->mg || mg_get_server_ports(s->mg, 1, ports) != 1) {
        return false;
    }
    s->port = ports[0].port;
    snprintf(s->address, sizeof s->address, "http://%s:%d/%s/", s->name, s->port, s->token);
    return true;
}

bool web_is_built(void)
{
    return true;
}

bool web_open(const web_options *options, web_server **out, char *error, size_t room)
{
    const char *address = options->address ? options->address : "127.0.0.1";
    const int port = options->port ? options->port : WEB_PORT;
    site *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s || !hub_open(&s->server)) {
        free(s);
        snprintf(error, room, "no memory for the live view");
        return false;
    }
    const char *wrong = find_host(s, address);
    if (!wrong && make_token(s) && (listen_at(s, port) || (!options->port && listen_at(s, 0)))) {
        *out = &s->server;
        return true;
    }
    if (wrong) {
        snprintf(error, room, "cannot serve the live view at '%s': %s", address, wrong);
    } else {
        snprintf(error, room, "cannot serve the live view at %s, port %d: %s", address, port,
                 s->trouble[0] ? s->trouble : "no random numbers to be had");
    }
    web_close(&s->server);
    return false;
}

/** Thread of stop_soon: stop civetweb, which waits for its threads. */
static void *stop(void *user)
{
    site *s = user;
    mg_stop(s->mg);
    atomic_store(&s->stopped, true);
    return NULL;
}

/** Stop civetweb. It tests every two seconds, or when a client connects, if it must stop: so
 *  connect to it until it has stopped. */
static void stop_soon(site *s)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, stop, s) != 0) {
        mg_stop(s->mg);
        return;
    }
    while (!atomic_load(&s->stopped)) {
        char error[64];
        const struct timespec moment = {.tv_nsec = 10000000};
        struct mg_connection *call = mg_connect_client(s->host, s->port, 0, error, sizeof error);
        if (call) {
            mg_close_connection(call);
        }
        nanosleep(&moment, NULL);
    }
    pthread_join(thread, NULL);
}

void web_close(web_server *server)
{
    site *s = (site *)server;
    if (!s) {
        return;
    }
    hub_stop(server);
    if (s->mg) {
        stop_soon(s);
    }
    hub_close(server);
    free(s);
}

const char *web_address(const web_server *server)
{
    return ((const site *)server)->address;
}

int web_port(const web_server *server)
{
    return ((const site *)server)->port;
}

const char *web_host(const web_server *server)
{
    return ((const site *)server)->name;
}

bool web_is_open(const web_server *server)
{
    return ((const site *)server)->open;
}
