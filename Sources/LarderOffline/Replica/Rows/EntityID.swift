@_spi(Stores) import LarderHTTP
import LarderOData
import LarderStorage

/// Entity-ids and the keys in them (URL Conventions 4.01 §4.3).
enum EntityID {
  /// Whether an id ends as the conventions require. Such an id can be derived from the key and need not be stored.
  static func isConventional(_ id: String, in table: EntityTable) -> Bool {
    let name = name(of: table)
    guard !name.isEmpty else { return false }
    var path = id.utf8[...]
    if path.last == UInt8(ascii: ")") {
      // A key in quotes may contain slashes. Therefore the code searches for the name, not for the last slash.
      let prefix = Array((name + "(").utf8)
      while let range = path.firstRange(of: prefix) {
        if range.lowerBound == id.utf8.startIndex
          || id.utf8[id.utf8.index(before: range.lowerBound)] == UInt8(ascii: "/")
        {
          return true
        }
        path = path[range.upperBound...]
      }
      return false
    }
    return table.key.isEmpty && (id == name || id.hasSuffix("/" + name))
  }

  private static func name(of table: EntityTable) -> String {
    switch table.place {
    case .entitySet(let name), .singleton(let name): name
    case .containment(_, let path): path.last ?? ""
    case .type: ""
    }
  }

  /// The key's cells at the end of an id, in the order of the table's key; nil if there is no suitable key.
  static func key(of id: String, in table: EntityTable, model: EdmModel) -> [SQLValue]? {
    guard let last = segments(id).last else { return nil }
    return cells(last.key ?? last.name, in: table, model: model)
  }

  /// A step of an id.
  struct Segment: Sendable, Hashable {
    let name: String
    /// The text in parentheses, without percent-encoding.
    let key: String?
  }

  /// The steps of a path or URL, without percent-encoding.
  static func segments(_ id: String) -> [Segment] {
    let text = id.prefix { $0 != "?" && $0 != "#" }
    var path = text[...]
    if let scheme = path.firstRange(of: "://"), !path[..<scheme.lowerBound].contains("(") {
      path = path[scheme.upperBound...].drop { $0 != "/" }
    }
    let decoded = Array((PercentEncoding.decode(String(path)) ?? String(path)).utf8)
    var parts: [[UInt8]] = [[]]
    var isQuoted = false
    for byte in decoded {
      if byte == UInt8(ascii: "'") { isQuoted.toggle() }
      if byte == UInt8(ascii: "/"), !isQuoted { parts.append([]) } else { parts[parts.count - 1].append(byte) }
    }
    return parts.filter { !$0.isEmpty }.map { part in
      guard part.last == UInt8(ascii: ")"), let open = part.firstIndex(of: UInt8(ascii: "(")) else {
        return Segment(name: String(decoding: part, as: UTF8.self), key: nil)
      }
      return Segment(
        name: String(decoding: part[..<open], as: UTF8.self),
        key: String(decoding: part[(open + 1)..<(part.count - 1)], as: UTF8.self))
    }
  }

  /// The cells of a key predicate: `1`, `'a'`, `A=1,B='b'`.
  static func cells(_ predicate: String, in table: EntityTable, model: EdmModel) -> [SQLValue]? {
    let parts = split(predicate)
    guard !table.key.isEmpty, parts.count == table.key.count else { return nil }
    let references = table.type.key
    var values: [SQLValue] = []
    for (place, column) in table.key.enumerated() {
      let column = table.columns[column]
      let names = references.indices.contains(place) ? [references[place].name, references[place].path] : []
      let named = parts.first { $0.name.map(names.contains) ?? false }
      guard let text = named?.value ?? (parts.count == 1 && parts[0].name == nil ? parts[0].value : nil),
        let value = cell(text, column, model)
      else { return nil }
      values.append(value)
    }
    return values
  }

  private static func cell(_ text: String, _ column: ReplicaColumn, _ model: EdmModel) -> SQLValue? {
    let dialect = model.version.dialect
    if let type = column.type.primitive {
      // Strings in keys that are path segments have no quotes.
      let value =
        (try? ODataValue(literal: text, type: type, dialect: dialect)) ?? (type == .string ? .string(text) : nil)
      return value.flatMap { try? column.storage.sqlValue(of: $0, type: column.type, model: model) }
    }
    var member = text[...]
    if let quote = text.firstIndex(of: "'"), text.hasSuffix("'") {
      member = text[text.index(after: quote)...].dropLast()
    }
    return try? column.storage.sqlValue(of: .enumeration(String(member)), type: column.type, model: model)
  }

  /// Splits at commas outside quotes, and separates names from values.
  private static func split(_ predicate: String) -> [(name: String?, value: String)] {
    var parts = [""]
    var isQuoted = false
    for character in predicate {
      if character == "'" { isQuoted.toggle() }
      if character == ",", !isQuoted { parts.append("") } else { parts[parts.count - 1].append(character) }
    }
    return parts.map { part in
      guard let equals = part.firstIndex(of: "="), !part[..<equals].contains("'") else { return (nil, part) }
      return (String(part[..<equals]), String(part[part.index(after: equals)...]))
    }
  }
}
