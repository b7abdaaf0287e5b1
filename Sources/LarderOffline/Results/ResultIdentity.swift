@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// Builds the URLs of a shape's entities from their rows (URL Conventions 4.01 §4.3.1, canonical URLs).
struct ResultIdentity: Sendable {
  /// The resource that the last step of a URL is below.
  enum Place: Sendable, Hashable {
    /// An entity set, or a path that leads to contained entities of one entity.
    case set([UInt8])
    /// A singleton, or a path to the one entity.
    case single([UInt8])
    /// A containment navigation property of the enclosing entity.
    case contained([UInt8], isCollection: Bool)
    /// The location of the entities is unknown.
    case unknown
  }

  let place: Place
  private let keys: [Key]
  private let uri: Int32?
  private let typeNumber: Int32?
  /// `/Ns.Type` by type number; empty for the declared type.
  private let casts: [[UInt8]]
  private let dialect: ODataDialect

  private struct Key: Sendable {
    /// `Name=`; empty if the key has one part.
    let name: [UInt8]
    let column: Int32
    let form: Form

    enum Form: Sendable { case number, string, guid, value(EdmPrimitiveType), enumeration(ResultEnumeration, String) }
  }

  init(_ shape: ReadShape, place: Place, form: ResultForm, types: ResultTypes) {
    dialect = form.dialect
    uri = shape.uri
    typeNumber = shape.typeNumber
    guard let table = shape.table else {
      self.place = .unknown
      keys = []
      casts = []
      return
    }
    self.place = place
    casts = table.types.map { $0.name == table.type.name ? [] : Array("/\($0.name)".utf8) }
    let names = table.type.key.map(\.name)
    guard shape.key.count == table.key.count else {
      keys = []
      return
    }
    keys = zip(table.key, shape.key).enumerated().map { index, places in
      let column = table.columns[places.0]
      let name = names.count > 1 && index < names.count ? Array("\(names[index])=".utf8) : []
      return Key(name: name, column: places.1, form: ResultIdentity.keyForm(column, form.dialect, types))
    }
  }

  private static func keyForm(_ column: ReplicaColumn, _ dialect: ODataDialect, _ types: ResultTypes) -> Key.Form {
    if case .enumeration(let type) = ValueType(column.type, in: types.model) {
      return .enumeration(ResultEnumeration(names: type), type.typeName)
    }
    let type = column.type.primitive ?? .string
    switch type {
    case .string: return .string
    case .sbyte, .byte, .int16, .int32: return .number
    case .int64 where dialect == .v4: return .number
    case .guid where dialect == .v4: return .guid
    default: return .value(type)
    }
  }

  /// Whether rows contain everything that their URLs are built from.
  var canBuildURLs: Bool {
    switch place {
    case .set, .contained(_, isCollection: true): !keys.isEmpty
    case .single, .contained(_, isCollection: false): true
    case .unknown: false
    }
  }

  /// The URL of a row's entity if the service gave one that differs from the conventions.
  func serviceURL(_ row: borrowing Row) throws -> String? {
    guard let uri, row.storageClass(uri) == .text else { return nil }
    return EntityLinks(try row.text(uri)).id
  }

  /// Where changes of a row's entity go.
  func edit(_ row: borrowing Row) throws -> EntityLinks.Edit {
    guard let uri, row.storageClass(uri) == .text else { return .conventional }
    return EntityLinks(try row.text(uri)).edit
  }

  /// The path of a row's entity from the service root, percent-encoded; nil if it is unknown.
  func path(_ row: borrowing Row, below parent: [UInt8]?) throws -> [UInt8]? {
    guard canBuildURLs else { return nil }
    switch place {
    case .set(let start): return try keyed(start, row)
    case .single(let path): return path
    case .contained(let name, let isCollection):
      guard let parent else { return nil }
      let start = parent + [UInt8(ascii: "/")] + name
      return isCollection ? try keyed(start, row) : start
    case .unknown: return nil
    }
  }

  /// `/Ns.Type` if the row's type is derived from the declared one.
  func cast(_ row: borrowing Row) -> [UInt8] {
    guard let typeNumber, case let number = row.integer(typeNumber), number > 0, number < Int64(casts.count) else {
      return []
    }
    return casts[Int(number)]
  }

  private func keyed(_ start: [UInt8], _ row: borrowing Row) throws -> [UInt8]? {
    var path = start
    path.reserveCapacity(start.count + 24)
    path.append(UInt8(ascii: "("))
    for (index, key) in keys.enumerated() {
      if index > 0 { path.append(UInt8(ascii: ",")) }
      path += key.name
      guard try append(key, row, to: &path) else { return nil }
    }
    path.append(UInt8(ascii: ")"))
    return path
  }

  private func append(_ key: Key, _ row: borrowing Row, to path: inout [UInt8]) throws -> Bool {
    let storage = row.storageClass(key.column)
    switch key.form {
    case _ where storage == .null: return false
    case .number: path += String(row.integer(key.column)).utf8
    case .guid: unsafe path.append(contentsOf: row.utf8(key.column))
    case .string:
      path.append(UInt8(ascii: "'"))
      let isPlain = unsafe row.utf8(key.column).allSatisfy { byte in
        byte >= 0x30 && byte <= 0x39 || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte == UInt8(ascii: "-")
          || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
      }
      if isPlain {
        unsafe path.append(contentsOf: row.utf8(key.column))
      } else {
        let text = unsafe String(decoding: row.utf8(key.column), as: UTF8.self)
        path +=
          PercentEncoding.encode(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))
          .utf8
      }
      path.append(UInt8(ascii: "'"))
    case .enumeration(let names, let type):
      let name = names.name(row.integer(key.column))
      path += try ODataValue.enumeration(name).urlLiteral(dialect: dialect, enumerationType: type).utf8
    case .value(let type):
      let value: ODataValue
      switch (storage, type) {
      case (.blob, _): value = unsafe .binary(Array(row.rawBytes(key.column)))
      case (.integer, .boolean): value = .boolean(row.integer(key.column) != 0)
      case (.integer, .int64): value = .int64(row.integer(key.column))
      case (.real, _): value = type == .single ? .single(Float(row.real(key.column))) : .double(row.real(key.column))
      default: value = try unsafe ODataValue(text: String(decoding: row.utf8(key.column), as: UTF8.self), type: type)
      }
      path += try value.urlLiteral(dialect: dialect).utf8
    }
    return true
  }
}
