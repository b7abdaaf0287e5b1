// Values to JSON (OData JSON Format 4.01 §7; OData V2 JSON Format, primitive types).
extension ODataValue {
  /// The value as JSON text.
  ///
  /// - Throws: ``ODataValueError`` if the format has no spelling for the value: V4 types in V2 and the other way round,
  ///   coordinates that are not numbers.
  package func json(_ format: ODataJSONFormat) throws(ODataValueError) -> String {
    var writer = JSONWriter()
    try write(to: &writer, format: format)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Writes the value as the next value of a JSON text.
  package func write(to writer: inout JSONWriter, format: ODataJSONFormat) throws(ODataValueError) {
    try write(to: &writer, format: format, depth: 0)
  }

  private static let maximumDepth = 512

  private func write(to writer: inout JSONWriter, format: ODataJSONFormat, depth: Int) throws(ODataValueError) {
    guard depth < ODataValue.maximumDepth else {
      throw ODataValueError(.tooDeep(limit: ODataValue.maximumDepth), type: nil, text: kind)
    }
    switch self {
    case .null: writer.null()
    case .boolean(let flag): writer.boolean(flag)
    case .string(let text), .enumeration(let text): writer.string(text)
    case .byte, .sbyte, .int16, .int32: writer.raw(try lexical(format))
    case .int64, .decimal: try writeExact(to: &writer, format: format)
    case .untypedNumber(let number):
      if number.isFinite { writer.raw(number.description) } else { writer.string(number.description) }
    case .single(let number): try writeFloating(number.isFinite, to: &writer, format: format)
    case .double(let number): try writeFloating(number.isFinite, to: &writer, format: format)
    case .dateTime(let dateTime):
      if case .v4 = format { throw unsupported("Edm.DateTime is not a type of V4; use Edm.DateTimeOffset") }
      let milliseconds = format == .verbose ? dateTime.millisecondsSince1970 : nil
      writeTicks(milliseconds, offset: nil, or: dateTime.description, to: &writer)
    case .dateTimeOffset(let dateTime):
      let milliseconds = format == .verbose ? dateTime.localMilliseconds : nil
      writeTicks(milliseconds, offset: dateTime.offsetMinutes, or: dateTime.description, to: &writer)
    case .date, .timeOfDay:
      if format.dialect == .v2 { throw unsupported("\(kind) is not a type of V2 and V3") }
      writer.string(String(decoding: try lexical(format), as: UTF8.self))
    case .guid, .binary, .duration: writer.string(String(decoding: try lexical(format), as: UTF8.self))
    case .geo(let geo): writer.node(try geo.geoJSON())
    case .complex(let value): try write(value, to: &writer, format: format, depth: depth)
    case .collection(let items): try write(items, to: &writer, format: format, depth: depth)
    }
  }

  private func unsupported(_ what: String) -> ODataValueError {
    ODataValueError(.notSupported(what), type: type, text: (try? text()) ?? "")
  }

  private func lexical(_ format: ODataJSONFormat) throws(ODataValueError) -> [UInt8] {
    var bytes: [UInt8] = []
    try write(lexicalInto: &bytes, isBase64URL: format.dialect == .v4)
    return bytes
  }

  /// Writes numbers that IEEE 754 would round.
  private func writeExact(to writer: inout JSONWriter, format: ODataJSONFormat) throws(ODataValueError) {
    var isNumber = format == .v4(ieee754Compatible: false)
    if case .decimal(let number) = self, !number.isFinite { isNumber = false }
    let text = try lexical(format)
    if isNumber { writer.raw(text) } else { writer.string(String(decoding: text, as: UTF8.self)) }
  }

  private func writeFloating(
    _ isFinite: Bool, to writer: inout JSONWriter, format: ODataJSONFormat
  ) throws(ODataValueError) {
    let text = try lexical(format)
    if isFinite { writer.raw(text) } else { writer.string(String(decoding: text, as: UTF8.self)) }
  }

  /// Writes `/Date(ms)/` if no part of a millisecond is lost, else ISO 8601, which V2 services also read.
  private func writeTicks(_ milliseconds: Int64?, offset: Int?, or text: String, to writer: inout JSONWriter) {
    guard let milliseconds else {
      writer.string(text)
      return
    }
    var bytes: [UInt8] = []
    bytes.append(ascii: "\"\\/Date(")
    bytes.append(decimal: milliseconds)
    if let offset {
      bytes.append(UInt8(ascii: offset < 0 ? "-" : "+"))
      bytes.append(decimal: offset.magnitude, width: 4)
    }
    bytes.append(ascii: ")\\/\"")
    writer.raw(bytes)
  }

  private func write(
    _ items: [ODataValue], to writer: inout JSONWriter, format: ODataJSONFormat, depth: Int
  ) throws(ODataValueError) {
    if format == .verbose {
      writer.beginObject()
      writer.name("results")
    }
    writer.beginArray()
    for item in items { try item.write(to: &writer, format: format, depth: depth + 1) }
    writer.endArray()
    if format == .verbose { writer.endObject() }
  }

  private func write(
    _ value: ODataComplexValue, to writer: inout JSONWriter, format: ODataJSONFormat, depth: Int
  ) throws(ODataValueError) {
    writer.beginObject()
    if let typeName = value.typeName {
      switch format {
      case .verbose:
        writer.name("__metadata")
        writer.beginObject()
        writer.name("type")
        writer.string(typeName)
        writer.endObject()
      case .light:
        writer.name("odata.type")
        writer.string(typeName)
      case .v4:
        writer.name("@odata.type")
        writer.string("#" + typeName)
      }
    }
    try write(value.annotations, on: "", to: &writer, format: format, depth: depth)
    for property in value.properties {
      try write(property.annotations, on: property.name, to: &writer, format: format, depth: depth)
      writer.name(property.name)
      try property.value.write(to: &writer, format: format, depth: depth + 1)
    }
    writer.endObject()
  }

  private func write(
    _ annotations: [ODataAnnotation], on name: String, to writer: inout JSONWriter, format: ODataJSONFormat, depth: Int
  ) throws(ODataValueError) {
    for annotation in annotations {
      if format == .verbose { throw unsupported("V2 JSON cannot represent the annotation: \(annotation.term)") }
      writer.name(format == .light && name.isEmpty ? annotation.term : "\(name)@\(annotation.term)")
      try annotation.value.write(to: &writer, format: format, depth: depth + 1)
    }
  }
}
