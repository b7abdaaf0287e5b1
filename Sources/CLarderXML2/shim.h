#ifndef LARDER_CXML2_SHIM_H
#define LARDER_CXML2_SHIM_H
#include <string.h>
#include <libxml/xmlversion.h>
// Some builds of libxml2 include ICU's headers, for fields that are not used here. They are another version than those of
// Foundation, and one file cannot use both.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <libxml/SAX2.h>

// The error callback's type changed between releases of libxml2 (the error became const): the cast is made here.
typedef void (*larder_xml_error_handler)(void *user, const xmlError *error);

static inline void larder_xml_set_error_handler(xmlSAXHandler *sax, larder_xml_error_handler handler) {
  sax->serror = (xmlStructuredErrorFunc)handler;
}

// An empty SAX2 handler; the magic number makes libxml2 use the namespace-aware callbacks.
static inline void larder_xml_init_handler(xmlSAXHandler *sax) {
  memset(sax, 0, sizeof *sax);
  sax->initialized = XML_SAX2_MAGIC;
}

// Predefined entities arrive as characters (NOENT), nothing is fetched (NONET), no built-in length limits (HUGE).
static inline int larder_xml_options(void) {
  return XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_HUGE;
}
#endif
