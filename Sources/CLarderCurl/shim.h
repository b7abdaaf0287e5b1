#ifndef LARDER_CCURL_SHIM_H
#define LARDER_CCURL_SHIM_H
#include <curl/curl.h>

/* curl_easy_setopt and its kin are variadic: one inline for each type of argument. */
static inline CURLcode larder_curl_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_write(CURL *handle, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_read(CURL *handle, CURLoption option, curl_read_callback value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_seek(CURL *handle, CURLoption option, curl_seek_callback value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode larder_curl_setopt_prereq(CURL *handle, CURLoption option, curl_prereq_callback value) {
  return curl_easy_setopt(handle, option, value);
}
/* The bytes are not copied: they must outlive the handle's last transfer. */
static inline CURLcode larder_curl_setopt_blob(CURL *handle, CURLoption option, void *bytes, size_t count) {
  struct curl_blob blob = {bytes, count, CURL_BLOB_NOCOPY};
  return curl_easy_setopt(handle, option, &blob);
}
static inline CURLcode larder_curl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode larder_curl_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode larder_curl_getinfo_string(CURL *handle, CURLINFO info, char **value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode larder_curl_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode larder_curl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline const curl_version_info_data *larder_curl_version(void) { return curl_version_info(CURLVERSION_NOW); }
static inline CURL *larder_curl_message_handle(const CURLMsg *message) { return message->easy_handle; }
static inline CURLcode larder_curl_message_result(const CURLMsg *message) { return message->data.result; }

#endif
