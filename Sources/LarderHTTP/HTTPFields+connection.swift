extension HTTPFields {
  /// The names that `Connection` lists, in lower case: fields that apply only to this connection (RFC 9110 §7.6.1).
  package var namedByConnection: Set<String> {
    var names: Set<String> = []
    for field in self where field.name.canonicalName == "connection" {
      // The common values name no field.
      if field.value == "keep-alive" || field.value == "close" || field.value == "Keep-Alive" { continue }
      for name in field.value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
        names.insert(HTTPFieldName(String(name)).canonicalName)
      }
    }
    return names
  }
}
