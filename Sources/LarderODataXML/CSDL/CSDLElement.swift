internal import LarderOData

/// The start tag of an element of a CSDL document. The grammar takes its attributes one by one; the rest is kept.
struct CSDLElement {
  private let start: XMLElement
  private var readAttributes: UInt64 = 0

  init(_ start: XMLElement) { self.start = start }

  /// The name without prefix.
  var name: String { start.name.local }
  var namespace: String { start.name.namespace }
  var qualifiedName: String { start.name.qualified }
  var line: Int { start.line }
  var column: Int { start.column }

  /// The value of one of CSDL's own attributes.
  mutating func take(_ name: String) -> String? {
    take { $0.local == name && $0.prefix.isEmpty }
  }

  /// The value of an attribute of V1 to V3's metadata namespace (`m:`).
  mutating func takeMetadata(_ name: String) -> String? { take { $0.local == name && CSDLElement.isMetadata($0) } }

  /// Takes the first of CSDL's own attributes for which `matches` returns a value, and returns that value.
  mutating func takeFirst<Value>(_ matches: (_ name: String, _ value: String) -> Value?) -> Value? {
    for (place, attribute) in start.attributes.enumerated() where attribute.name.prefix.isEmpty && !isRead(place) {
      guard let value = matches(attribute.name.local, attribute.value) else { continue }
      markAsRead(place)
      return value
    }
    return nil
  }

  /// The names of the metadata attributes that begin with a prefix and were not taken yet.
  func metadataNames(startingWith prefix: String) -> [String] {
    start.attributes.enumerated().compactMap { place, attribute in
      CSDLElement.isMetadata(attribute.name) && attribute.name.local.hasPrefix(prefix) && !isRead(place)
        ? attribute.name.local : nil
    }
  }

  /// Returns the attributes that were not taken. Reports a diagnostic for unknown attributes in CSDL's own namespace.
  func rest(_ reading: CSDLReading) -> [EdmForeignAttribute] {
    var rest: [EdmForeignAttribute] = []
    for (place, attribute) in start.attributes.enumerated() where !isRead(place) {
      if attribute.name.prefix.isEmpty {
        reading.report(.unknownAttribute, "\(name) has no attribute \(attribute.name.local)", at: self)
      }
      rest.append(
        EdmForeignAttribute(
          namespace: attribute.name.namespace, prefix: attribute.name.prefix, name: attribute.name.local,
          value: attribute.value))
    }
    return rest
  }

  private static func isMetadata(_ name: XMLName) -> Bool {
    name.namespace.hasSuffix("/dataservices/metadata") || name.namespace.isEmpty && name.prefix == "m"
  }

  private mutating func take(_ matches: (XMLName) -> Bool) -> String? {
    guard let place = start.attributes.firstIndex(where: { matches($0.name) }) else { return nil }
    markAsRead(place)
    return start.attributes[place].value
  }

  private mutating func markAsRead(_ place: Int) { if place < 64 { readAttributes |= 1 << UInt64(place) } }

  private func isRead(_ place: Int) -> Bool { place < 64 && readAttributes & (1 << UInt64(place)) != 0 }
}

// Values of attributes. A value that cannot be read is reported as a diagnostic and left out.
extension CSDLElement {
  mutating func takeBool(_ name: String, _ reading: CSDLReading) -> Bool? {
    take(name).flatMap { bool($0, name, reading) }
  }

  func bool(_ text: String, _ name: String, _ reading: CSDLReading) -> Bool? {
    switch text.trimmed.lowercased() {
    case "true", "1": return true
    case "false", "0": return false
    default:
      reading.report(.invalidValue, "\(name)=\"\(text)\" is neither true nor false", at: self)
      return nil
    }
  }

  mutating func takeNumber(_ name: String, _ reading: CSDLReading) -> Int? {
    guard let text = take(name) else { return nil }
    return number(text, name, reading)
  }

  private func number(_ text: String, _ name: String, _ reading: CSDLReading) -> Int? {
    if let number = Int(text.trimmed), number >= 0 { return number }
    reading.report(.invalidValue, "\(name)=\"\(text)\" is not a usable number", at: self)
    return nil
  }

  /// Takes a required name. If it is missing, the caller leaves the element out.
  mutating func takeRequired(_ name: String, _ reading: CSDLReading) -> String? {
    if let value = take(name) { return value }
    reading.report(.missingAttribute, "\(self.name) has no \(name); it was left out", at: self)
    return nil
  }

  mutating func takeType(_ name: String = "Type") -> EdmTypeReference? {
    take(name).map { EdmTypeReference($0.trimmed) }
  }

  mutating func takeFacets(_ reading: CSDLReading) -> EdmFacets {
    var facets = EdmFacets()
    if let text = take("MaxLength") {
      facets.maxLength =
        text.trimmed.lowercased() == "max" ? .max : number(text, "MaxLength", reading).map { .limit($0) }
    }
    facets.precision = takeNumber("Precision", reading)
    if let text = take("Scale") {
      switch text.trimmed.lowercased() {
      case "variable": facets.scale = .variable
      case "floating": facets.scale = .floating
      default: facets.scale = number(text, "Scale", reading).map { .digits($0) }
      }
    }
    facets.isUnicode = takeBool("Unicode", reading)
    if let text = take("SRID") {
      facets.srid =
        text.trimmed.lowercased() == "variable" ? .variable : number(text, "SRID", reading).map { .reference($0) }
    }
    facets.isFixedLength = takeBool("FixedLength", reading)
    facets.collation = take("Collation")
    return facets
  }
}

extension String {
  /// The text without white space at either end.
  var trimmed: String {
    guard let first = utf8.first, let last = utf8.last else { return self }
    if first > 0x20 && last > 0x20 { return self }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let start = utf8.firstIndex { !isSpace($0) } ?? utf8.endIndex
    guard start != utf8.endIndex else { return "" }
    let end = utf8.lastIndex { !isSpace($0) } ?? start
    return String(self[start...end])
  }
}
