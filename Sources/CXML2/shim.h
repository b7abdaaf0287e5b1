#ifndef LARDER_CXML2_SHIM_H
#define LARDER_CXML2_SHIM_H
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <libxml/SAX2.h>
#endif
