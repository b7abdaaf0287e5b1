import LarderOData
import LarderService
import LarderStorage

/// Writes JSON stored in columns in the spelling that a form requires.
struct ResultTypes: Sendable {
  let model: EdmModel
  let form: ResultForm

  private static let maximumDepth = 100

  init(model: EdmModel, form: ResultForm) {
    self.model = model
    self.form = form
  }

  /// Parses the JSON of a column.
  static func node(_ bytes: [UInt8]) throws -> JSONNode {
    do { return try JSONNode(bytes) } catch {
      throw OfflineODataError(.storeDamaged, "a column of the store contains unreadable JSON: \(error)")
    }
  }

  /// Whether stored JSON of the type is written unchanged.
  func isVerbatim(_ type: ValueType) -> Bool {
    guard !form.isVerbose else { return false }
    switch type {
    case .collection(let item): return isVerbatim(item)
    case .primitive(let type):
      switch type {
      case .decimal, .dateTime: return false
      case .int64: return !form.isIEEE754Compatible
      default: return true
      }
    case .enumeration, .structure, .untyped: return false
    }
  }

  // MARK: Writing

  /// Writes a value by its type.
  func write(_ node: JSONNode, as type: ValueType, into out: inout ResultBytes) throws {
    try write(node, as: type, depth: 0, into: &out)
  }

  private func write(_ node: JSONNode, as type: ValueType, depth: Int, into out: inout ResultBytes) throws {
    guard depth < ResultTypes.maximumDepth else {
      throw OfflineODataError(
        .storeDamaged, "JSON in the store is nested deeper than \(ResultTypes.maximumDepth) levels")
    }
    switch (node, type) {
    case (.null, _): out.append(literal: "null")
    case (.array(let items), _):
      var item = type
      if case .collection(let inner) = type { item = inner }
      out.append(form.isVerbose ? "{\"results\":[" : "[")
      for node in items {
        try write(node, as: item, depth: depth + 1, into: &out)
        out.append(UInt8(ascii: ","))
      }
      out.close(UInt8(ascii: "]"))
      if form.isVerbose { out.append(UInt8(ascii: "}")) }
    case (.object(let members), .primitive(let type)) where type.rawValue.hasPrefix("Geo"):
      try verbatim(members, depth: depth, into: &out)
    case (.object(let members), .structure(let declared)):
      try object(members, declared: declared, depth: depth, into: &out)
    case (.object(let members), _): try object(members, declared: nil, depth: depth, into: &out)
    case (_, .primitive(let type)): try scalar(node, type, into: &out)
    case (.number(let text), .enumeration(let names)): out.string(Int64(text).flatMap(names.name) ?? text)
    case (.string(let text), _): out.string(text)
    case (.number(let text), _): out.append(text)
    case (.boolean(let flag), _): out.append(flag ? "true" : "false")
    }
  }

  private func verbatim(_ members: [JSONNode.Member], depth: Int, into out: inout ResultBytes) throws {
    var writer = JSONWriter()
    writer.node(.object(members))
    out.append(writer.bytes)
  }

  private func scalar(_ node: JSONNode, _ type: EdmPrimitiveType, into out: inout ResultBytes) throws {
    switch (node, type) {
    case (.number(let text), .int64), (.string(let text), .int64), (.number(let text), .decimal),
      (.string(let text), .decimal):
      var text = text
      text.withUTF8 { unsafe ResultCell.decimal($0, isQuoted: form.quotesExactNumbers, into: &out) }
    case (.string(let text), .dateTime) where !form.isVerbose: out.string(text + "Z")
    case (.string(let text), .dateTime), (.string(let text), .dateTimeOffset), (.string(let text), .date),
      (.string(let text), .timeOfDay), (.string(let text), .binary):
      if form.isVerbose { try write(text, as: type, into: &out) } else { out.string(text) }
    case (.string(let text), _): out.string(text)
    case (.number(let text), _): out.append(text)
    case (.boolean(let flag), _): out.append(flag ? "true" : "false")
    default: out.append(literal: "null")
    }
  }

  /// Writes the text of a type that V2 spells in another way. A text that cannot be parsed is written unchanged.
  func write(_ text: String, as type: EdmPrimitiveType, into out: inout ResultBytes) throws {
    let value: ODataValue?
    switch type {
    case .date: value = ODataDate(text).map { .dateTime(ODataDateTime(date: $0)) }
    case .timeOfDay:
      value = ODataTimeOfDay(text).flatMap { time in
        let seconds = Int64(time.hour) * 3600 + Int64(time.minute) * 60 + Int64(time.second)
        return ODataDuration(seconds: seconds, picoseconds: Int64(clamping: time.picosecond)).map { .duration($0) }
      }
    default: value = try? ODataValue(text: text, type: type)
    }
    guard let value else { return out.string(text) }
    var writer = JSONWriter()
    do { try value.write(to: &writer, format: form.format) } catch { return out.string(text) }
    out.append(writer.bytes)
  }

  /// Writes an object and its properties. Control information in it is rewritten for the form.
  private func object(
    _ members: [JSONNode.Member], declared: EdmStructure?, depth: Int, into out: inout ResultBytes
  ) throws {
    var actual = declared
    if let name = ValueType.annotation(of: "", in: members) { actual = model.structure(name) ?? declared }
    out.append(UInt8(ascii: "{"))
    typeName(actual: actual, declared: declared, into: &out)
    try self.members(members, of: actual, depth: depth, into: &out)
    out.close(UInt8(ascii: "}"))
  }

  /// Writes the type of a complex value if the form shows it, and a comma.
  func typeName(actual: EdmStructure?, declared: EdmStructure?, into out: inout ResultBytes) {
    guard let actual else { return }
    if form.isVerbose {
      out.append(literal: "\"__metadata\":{\"type\":")
      out.string(actual.name)
      out.append(literal: "},")
    } else if form.metadata == .full || form.metadata == .minimal && actual.name != declared?.name {
      out.append("\"\(form.control)type\":")
      out.string("#\(actual.name)")
      out.append(UInt8(ascii: ","))
    }
  }

  /// Writes properties, each with a comma. If `only` is given, other properties are left out.
  func members(
    _ members: [JSONNode.Member], of structure: EdmStructure?, only: Set<String>? = nil, depth: Int = 0,
    into out: inout ResultBytes
  ) throws {
    for member in members where !member.name.contains("@") {
      if let only, !only.contains(member.name) { continue }
      var type = ValueType.untyped
      var isDynamic = true
      if let property = structure?.property(member.name) {
        type = ValueType(property.type, in: model)
        isDynamic = false
      } else if let name = ValueType.annotation(of: member.name, in: members) {
        type = ValueType(EdmTypeReference(name), in: model)
      }
      if let name = type.name, !form.isVerbose, showsType(type, isDynamic: isDynamic) {
        out.string("\(member.name)\(form.control)type")
        out.append(":\"#\(name)\",")
      }
      out.string(member.name)
      out.append(UInt8(ascii: ":"))
      try write(member.value, as: type, depth: depth + 1, into: &out)
      out.append(UInt8(ascii: ","))
    }
  }

  /// Whether a property of the type has `Name@odata.type` before it (JSON Format 4.01 §3.1 and §4.6.3).
  func showsType(_ type: ValueType, isDynamic: Bool) -> Bool {
    switch form.metadata {
    case .none: return false
    case .minimal: guard isDynamic else { return false }
    case .full: break
    }
    switch type {
    case .primitive(.string), .primitive(.boolean), .structure, .untyped: return false
    case .primitive(.double): return isDynamic
    case .primitive(.stream): return false
    default: return true
    }
  }
}
