@_spi(Stores) import LarderCore
import LarderOData
import LarderStorage

/// The cells of an entity's row by column name, encoded in the order of the names.
///
/// It can contain the columns of ``SystemColumn`` under their own names. `@type` is the qualified name of the type, not
/// its number, because cells are kept when the model, and so the numbers, change.
struct EntityCells: Hashable, Sendable {
  private(set) var values: [String: SQLValue]

  init(_ values: [String: SQLValue] = [:]) { self.values = values }

  /// A cell; nil if there is no value for the column.
  subscript(name: String) -> SQLValue? {
    get { values[name] }
    set { values[name] = newValue }
  }

  subscript(column: SystemColumn) -> SQLValue? {
    get { values[column.rawValue] }
    set { values[column.rawValue] = newValue }
  }

  /// The text of a cell; nil if it is not a text.
  func text(_ column: SystemColumn) -> String? { if case .text(let text)? = self[column] { text } else { nil } }

  /// The number of a cell; nil if it is not an integer.
  func integer(_ column: SystemColumn) -> Int64? { if case .integer(let value)? = self[column] { value } else { nil } }

  var isEmpty: Bool { values.isEmpty }

  /// Merges other cells over these.
  mutating func merge(_ others: EntityCells) { values.merge(others.values) { _, new in new } }
}

// The JSON encoding: integers as numbers, texts as strings, NULL as null, reals as `{"r":"1.5"}`, blobs as `{"b":"…"}`
// in hexadecimal digits.
extension EntityCells {
  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      writer.name(name)
      writer.cell(value)
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Decodes the result of ``json``; nil for other texts.
  init?(json: String) {
    guard let node = try? JSONNode(Array(json.utf8)), case .object(let members) = node else { return nil }
    values = [:]
    for member in members {
      guard let value = EntityCells.cell(member.value) else { return nil }
      values[member.name] = value
    }
  }

  private static func cell(_ node: JSONNode) -> SQLValue? {
    switch node {
    case .null: return .null
    case .number(let text): return Int64(text).map { .integer($0) }
    case .string(let text): return .text(text)
    case .boolean, .array: return nil
    case .object(let members):
      guard members.count == 1, case .string(let text) = members[0].value else { return nil }
      return members[0].name == "r" ? Double(text).map { .real($0) } : Hexadecimal.bytes(text.utf8).map { .blob($0) }
    }
  }
}

extension EntityCells: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cells = EntityCells(json: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no cells")
    }
    self = cells
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(json)
  }
}

extension JSONWriter {
  fileprivate mutating func cell(_ value: SQLValue) {
    switch value {
    case .null: null()
    case .integer(let number): integer(number)
    case .text(let text): string(text)
    case .real(let number):
      beginObject()
      name("r")
      string(String(number))
      endObject()
    case .blob(let bytes):
      beginObject()
      name("b")
      string(Hexadecimal.text(bytes))
      endObject()
    }
  }
}
