import OData
import Storage

// Scalars of a row's members.
extension RowDecoder {
  /// The place of a member's value: its column and what it holds; nil where it is no column.
  @inline(__always)
  private func column(_ number: Int) -> Int32? {
    guard number >= 0, case let column = scope.columns[number], column >= 0 else { return nil }
    return column
  }

  /// Whether a row has the member: its type has the property.
  func has(_ number: Int) throws -> Bool {
    let types = scope.types[number]
    guard !types.isEmpty, let place = scope.typeNumber else { return true }
    let type = unsafe Int(truncatingIfNeeded: try row().pointee.integer(place))
    return type >= 0 && type < types.count && types[type]
  }

  /// Whether a member is null, or not there at all.
  @inline(__always)
  func isMissing(_ number: Int, _ key: some CodingKey) throws -> Bool {
    if let column = column(number) { return unsafe try row().pointee.isNull(column) }
    return try isMissingMember(number, key)
  }

  @inline(never)
  private func isMissingMember(_ number: Int, _ key: any CodingKey) throws -> Bool {
    guard number >= 0 else {
      let member = try dynamicMember(key.stringValue)
      return member == nil || member == .null
    }
    if try !has(number) { return true }
    return try isNull(number, key)
  }

  /// Whether a member is null. A related entity that is not there shows only when it is read.
  func isNull(_ number: Int, _ key: any CodingKey) throws -> Bool {
    guard number >= 0 else {
      guard let member = try dynamicMember(key.stringValue) else { throw missing(key) }
      return member == .null
    }
    let row = unsafe try row()
    switch scope.members[number] {
    case .column(let column, _, _), .complex(let column, _), .text(let column):
      return unsafe row.pointee.isNull(column)
    case .expand, .typeName: return false
    case .id(let identity): return unsafe try identity.path(row.pointee, below: nil) == nil
    }
  }

  // MARK: Scalars

  @inline(__always)
  func string(_ number: Int, _ key: some CodingKey) throws -> String {
    if let column = column(number) {
      let row = unsafe try row()
      if unsafe row.pointee.storageClass(column) == .text {
        // SQLite holds well-formed UTF-8 as the payload reader checked it; anything else is repaired.
        return unsafe String(decoding: row.pointee.utf8(column), as: UTF8.self)
      }
    }
    return try otherString(number, key)
  }

  @inline(never)
  private func otherString(_ number: Int, _ key: any CodingKey) throws -> String {
    try cell(number, key).string()
  }

  @inline(__always)
  func integer<Number: FixedWidthInteger>(_ number: Int, _ key: some CodingKey) throws -> Number {
    if let column = column(number) {
      let row = unsafe try row()
      if unsafe row.pointee.storageClass(column) == .integer,
        let value = unsafe Number(exactly: row.pointee.integer(column))
      {
        return value
      }
    }
    return try otherInteger(number, key)
  }

  @inline(never)
  private func otherInteger<Number: FixedWidthInteger>(_ number: Int, _ key: any CodingKey) throws -> Number {
    try cell(number, key).integer()
  }

  @inline(__always)
  func double(_ number: Int, _ key: some CodingKey) throws -> Double {
    if let column = column(number) {
      let row = unsafe try row()
      if unsafe row.pointee.storageClass(column) == .real { return unsafe row.pointee.real(column) }
    }
    return try otherDouble(number, key)
  }

  @inline(never)
  private func otherDouble(_ number: Int, _ key: any CodingKey) throws -> Double { try cell(number, key).double() }

  @inline(__always)
  func boolean(_ number: Int, _ key: some CodingKey) throws -> Bool {
    if number >= 0, scope.booleans[number] {
      let column = scope.columns[number]
      let row = unsafe try row()
      if unsafe row.pointee.storageClass(column) == .integer { return unsafe row.pointee.integer(column) != 0 }
    }
    return try otherBoolean(number, key)
  }

  @inline(never)
  private func otherBoolean(_ number: Int, _ key: any CodingKey) throws -> Bool { try cell(number, key).boolean() }

  // MARK: Undeclared properties

  /// The undeclared properties of a row; nil where it has none.
  func dynamicNode() throws -> JSONNode? {
    guard let column = scope.dynamic else { return nil }
    let row = unsafe try row()
    guard unsafe row.pointee.storageClass(column) == .text else { return nil }
    return unsafe try AnswerTypes.node(Array(row.pointee.utf8(column)))
  }

  func dynamicMember(_ name: String) throws -> JSONNode? { try dynamicNode()?[name] }

  // MARK: Errors

  func missing(_ key: any CodingKey) -> DecodingError {
    .keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription: "The answer has no '\(key.stringValue)'; select or expand it, or make it optional"))
  }

  /// A member as a value of its own, for everything that is not read straight from a column.
  @inline(never)
  func cell(_ number: Int, _ key: any CodingKey) throws -> ScalarDecoder {
    let path = around + [key]
    guard number >= 0 else {
      guard let node = try dynamicMember(key.stringValue) else { throw missing(key) }
      return ScalarDecoder(ScalarDecoder.Scalar(node), codingPath: path)
    }
    guard try has(number) else { throw missing(key) }
    let row = unsafe try row()
    switch scope.members[number] {
    case .column(let column, let storage, let type):
      return unsafe ScalarDecoder(
        ScalarDecoder.Scalar(row.pointee, column, storage, type, place.writer.types), codingPath: path)
    case .text(let column): return ScalarDecoder(unsafe .text(row.pointee.utf8Text(column)), codingPath: path)
    case .typeName(let column, let names):
      let type = column.map { unsafe Int(truncatingIfNeeded: row.pointee.integer($0)) } ?? 0
      return ScalarDecoder(type >= 0 && type < names.count ? .text(names[type]) : .null, codingPath: path)
    case .id(let identity):
      let own = unsafe try identity.ownURL(row.pointee)
      let url = unsafe try identity.path(row.pointee, below: nil)
      let id = own ?? url.map { String(decoding: $0, as: UTF8.self) }
      return ScalarDecoder(id.map { .text($0) } ?? .null, codingPath: path)
    case .expand(let expand):
      guard key.stringValue != expand.name || expand.isCount else { return ScalarDecoder(.compound, codingPath: path) }
      return ScalarDecoder(.integer(try count(expand)), codingPath: path)
    case .complex: return ScalarDecoder(.compound, codingPath: path)
    }
  }

  private func count(_ expand: RowExpand) throws -> Int64 {
    let row = unsafe try row()
    if let sql = expand.countSQL, let count = expand.plan.count {
      return try place.writer.count(sql, unsafe AnswerWriter.values(count.parameters, at: row.pointee))
    }
    return try place.writer.count(expand.sql, unsafe AnswerWriter.values(expand.plan.parameters, at: row.pointee))
  }
}

extension Row {
  /// A text column, copied.
  func utf8Text(_ column: Int32) -> String { unsafe String(decoding: utf8(column), as: UTF8.self) }
}
