#ifndef LARDER_CMICROHTTPD_SHIM_H
#define LARDER_CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* What libmicrohttpd calls. */
struct larder_mhd_callbacks {
  void *(*target)(void *, const char *, struct MHD_Connection *);
  MHD_AccessHandlerCallback handler;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  size_t (*unescape)(void *, struct MHD_Connection *, char *);
};

/* Where a daemon's log leads: its texts are dropped. */
struct larder_mhd_log {
  void (*notices)(void *);
  void *context;
};
static inline void larder_mhd_logs(void *log, const char *format, va_list arguments) {
  (void)format;
  (void)arguments;
  ((struct larder_mhd_log *)log)->notices(((struct larder_mhd_log *)log)->context);
}

/* libmicrohttpd takes the first Cookie apart, into more memory than a connection may have. This is one before all others,
   of which it has to take nothing apart; its name is told by its place in memory. */
static inline const char *larder_mhd_hiding(void) {
  static const char name[] = "Cookie";
  return name;
}
static inline void larder_mhd_hide_cookies(struct MHD_Connection *connection) {
  (void)MHD_set_connection_value_n(connection, MHD_HEADER_KIND, larder_mhd_hiding(), 6, "", 0);
}
static inline int larder_mhd_is_hiding(const char *name) { return name == larder_mhd_hiding(); }

/* MHD_start_daemon is variadic. A daemon of one thread without a socket to listen on: connections are added. It is not
   strict: what it lets pass is refused with one answer, while it would close the connection, or send two heads. */
static inline struct MHD_Daemon *larder_mhd_start(
    struct larder_mhd_callbacks callbacks, void *context, struct larder_mhd_log *log, size_t memory,
    unsigned int idle_seconds) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL,
      NULL, callbacks.handler, context, MHD_OPTION_EXTERNAL_LOGGER, larder_mhd_logs, log, MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, context, MHD_OPTION_NOTIFY_COMPLETED,
      callbacks.completed, context, MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, context,
      MHD_OPTION_UNESCAPE_CALLBACK, callbacks.unescape, context, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)INT32_MAX,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
      MHD_OPTION_STRICT_FOR_CLIENT, (int)0, MHD_OPTION_END);
}

/* MHD_get_connection_info is variadic too. */
static inline void *larder_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}
static inline int larder_mhd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}
/* Bytes of a request's head, from the method to the empty line. */
static inline size_t larder_mhd_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}
/* The status of the response that was queued; 0 where none was. */
static inline unsigned int larder_mhd_status(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_HTTP_STATUS);
  return info == NULL ? 0 : info->http_status;
}

static inline int larder_mhd_each_field(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN body, void *context) {
  return MHD_get_connection_values_n(connection, MHD_HEADER_KIND, body, context);
}
static inline int larder_mhd_is_started(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}
static inline int larder_mhd_is_complete(enum MHD_RequestTerminationCode code) {
  return code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
}

/* A response whose content is copied. */
static inline struct MHD_Response *larder_mhd_response(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(
      count, (void *)bytes, count == 0 ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
}
/* A response whose end is the end of the connection: neither Content-Length nor Transfer-Encoding is sent. */
static inline void larder_mhd_ends_connection(struct MHD_Response *response) {
  (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/* Macros with casts, which Swift does not see. */
enum { larder_mhd_end_of_stream = -1, larder_mhd_end_with_error = -2 };

/* What the listener needs of Linux, out of Swift's sight without _GNU_SOURCE. */
enum { larder_epoll_peer_closed = 0x2000, larder_poll_peer_closed = 0x2000 };
static inline uintptr_t larder_thread(void) { return (uintptr_t)pthread_self(); }
static inline ssize_t larder_send(int descriptor, const void *bytes, size_t count) {
  return send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}
static inline int larder_listening_socket_type(void) { return SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK; }
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
static inline int larder_accept(int listening, struct sockaddr *address, socklen_t *length) {
  return accept4(listening, address, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

#endif
