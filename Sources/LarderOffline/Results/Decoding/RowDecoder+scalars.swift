import LarderOData
import LarderService
import LarderStorage

// Scalars of a row's members.
extension RowDecoder {
  /// Whether a row has the member: its type has the property, and it was downloaded.
  func has(_ number: Int) throws -> Bool {
    if let presence = scope.presence[number] {
      let row = unsafe try row()
      if unsafe row.pointee.integer(presence.column) == 0, unsafe row.pointee.isNull(presence.value) { return false }
    }
    let types = scope.types[number]
    guard !types.isEmpty, let typeColumn = scope.typeNumber else { return true }
    let type = unsafe Int(truncatingIfNeeded: try row().pointee.integer(typeColumn))
    return type >= 0 && type < types.count && types[type]
  }

  /// Whether a member is null or absent.
  @inline(__always)
  func isMissing(_ member: MemberPlace, _ key: some CodingKey) throws -> Bool {
    if member.column >= 0 { return unsafe try row().pointee.isNull(member.column) }
    return try isMissingMember(Int(member.number), key)
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

  /// Whether a member is null. A missing related entity is noticed only when it is read.
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
  // A column with the expected storage class is read directly; everything else is read through `cell`.

  @inline(__always)
  func string(_ member: MemberPlace, _ key: some CodingKey) throws -> String {
    if member.isText, let text = unsafe try row().pointee.textIfText(member.column) { return text }
    return try otherCell(member, key).string()
  }

  @inline(__always)
  func stringIfPresent(_ member: MemberPlace, _ key: some CodingKey) throws -> String? {
    if member.isText, let text = unsafe try row().pointee.textIfText(member.column) { return text }
    return try otherCellIfPresent(member, key)?.string()
  }

  @inline(__always)
  func integer<Number: FixedWidthInteger>(_ member: MemberPlace, _ key: some CodingKey) throws -> Number {
    if member.isWhole, let stored = unsafe try row().pointee.integerIfInteger(member.column),
      let number = Number(exactly: stored)
    {
      return number
    }
    return try otherCell(member, key).integer()
  }

  @inline(__always)
  func integerIfPresent<Number: FixedWidthInteger>(_ member: MemberPlace, _ key: some CodingKey) throws -> Number? {
    if member.isWhole, let stored = unsafe try row().pointee.integerIfInteger(member.column),
      let number = Number(exactly: stored)
    {
      return number
    }
    return try otherCellIfPresent(member, key)?.integer()
  }

  @inline(__always)
  func double(_ member: MemberPlace, _ key: some CodingKey) throws -> Double {
    if member.column >= 0, let number = unsafe try row().pointee.realIfReal(member.column) { return number }
    return try otherCell(member, key).double()
  }

  @inline(__always)
  func doubleIfPresent(_ member: MemberPlace, _ key: some CodingKey) throws -> Double? {
    if member.column >= 0, let number = unsafe try row().pointee.realIfReal(member.column) { return number }
    return try otherCellIfPresent(member, key)?.double()
  }

  func float(_ member: MemberPlace, _ key: some CodingKey) throws -> Float { try otherCell(member, key).float() }

  @inline(__always)
  func boolean(_ member: MemberPlace, _ key: some CodingKey) throws -> Bool {
    if member.storage == .boolean, let number = unsafe try row().pointee.integerIfInteger(member.column) {
      return number != 0
    }
    return try otherCell(member, key).boolean()
  }

  @inline(__always)
  func booleanIfPresent(_ member: MemberPlace, _ key: some CodingKey) throws -> Bool? {
    if member.storage == .boolean, let number = unsafe try row().pointee.integerIfInteger(member.column) {
      return number != 0
    }
    return try otherCellIfPresent(member, key)?.boolean()
  }

  @inline(never)
  private func otherCell<Key: CodingKey>(_ member: MemberPlace, _ key: Key) throws -> ScalarDecoder {
    try cell(Int(member.number), key)
  }

  @inline(never)
  private func otherCellIfPresent<Key: CodingKey>(_ member: MemberPlace, _ key: Key) throws -> ScalarDecoder? {
    try isMissing(member, key) ? nil : try cell(Int(member.number), key)
  }

  // MARK: Undeclared properties

  /// The undeclared properties of a row; nil if it has none.
  func dynamicNode() throws -> JSONNode? {
    guard let column = scope.dynamic else { return nil }
    let row = unsafe try row()
    guard unsafe row.pointee.storageClass(column) == .text else { return nil }
    return unsafe try ResultTypes.node(Array(row.pointee.utf8(column)))
  }

  func dynamicMember(_ name: String) throws -> JSONNode? { try dynamicNode()?[name] }

  /// The decoder of an undeclared property, by the type that its annotation gives.
  func dynamicDecoder(_ key: any CodingKey) throws -> NodeDecoder {
    guard let row = try dynamicNode(), let members = row.members, let value = row[key.stringValue] else {
      throw missing(key)
    }
    let types = place.writer.types
    let type = ValueType(ofUndeclared: key.stringValue, in: members, types.model)
    return NodeDecoder(value, type, codingPath: parentPath + [key], model: types.model)
  }

  func dynamicProperties(besides isDeclared: (String) -> Bool) throws -> [ODataProperty] {
    guard let node = try dynamicNode() else { return [] }
    let decoder = NodeDecoder(node, .untyped, codingPath: parentPath, model: place.writer.types.model)
    return try decoder.dynamicProperties(besides: isDeclared)
  }

  // MARK: Errors

  func missing(_ key: any CodingKey) -> DecodingError {
    .keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription:
          "The result has no '\(key.stringValue)'; select or expand it, or make the Swift property optional"))
  }

  /// A member as a separate value, for everything that is not read directly from a column.
  @inline(never)
  func cell(_ number: Int, _ key: any CodingKey) throws -> ScalarDecoder {
    guard number >= 0 else { return try dynamicDecoder(key).scalar }
    guard try has(number) else { throw missing(key) }
    let types = place.writer.types
    func decoder(_ scalar: DecodedScalar) -> ScalarDecoder {
      ScalarDecoder(scalar, scope.members[number].declared, codingPath: parentPath + [key], model: types.model)
    }
    let row = unsafe try row()
    switch scope.members[number] {
    case .column(let column, let storage, let type):
      try checkFits(column, storage, key)
      return decoder(
        unsafe try DecodedScalar(row.pointee, column: column, storage: storage, type: type, model: types.model))
    case .text(let column): return decoder(unsafe .text(row.pointee.utf8Text(column)))
    case .typeName(let column, let names):
      let type = column.map { unsafe Int(truncatingIfNeeded: row.pointee.integer($0)) } ?? 0
      return decoder(type >= 0 && type < names.count ? .text(names[type]) : .null)
    case .id(let identity):
      let serviceURL = unsafe try identity.serviceURL(row.pointee)
      let url = unsafe try identity.path(row.pointee, below: nil)
      let id = serviceURL ?? url.map { String(decoding: $0, as: UTF8.self) }
      return decoder(id.map { .text($0) } ?? .null)
    case .expand(let expand):
      // The member is `Items`, the related entities, or `Items@count`, their number.
      guard key.stringValue != expand.name || expand.isCount else { return decoder(.compound) }
      return decoder(.integer(try count(expand)))
    case .complex: return decoder(.compound)
    }
  }

  /// Throws if a column of the row has a value that does not fit its declared type.
  func checkFits(_ column: Int32, _ storage: ColumnStorage, _ key: any CodingKey) throws {
    let row = unsafe try row()
    guard unsafe row.pointee.storageClass(column) == RawValue.storageClass(in: storage) else { return }
    var entity = ""
    if let number = scope.number("@odata.id"), case .id(let identity) = scope.members[number],
      let path = unsafe try identity.path(row.pointee, below: nil)
    {
      entity = String(decoding: path, as: UTF8.self) + "/"
    }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: parentPath + [key],
        debugDescription: "The value of \(entity)\(key.stringValue) does not fit its declared type."))
  }

  private func count(_ expand: RowExpand) throws -> Int64 {
    let row = unsafe try row()
    unsafe try expand.plan.check(place.writer.connection, at: row.pointee)
    if let sql = expand.countSQL, let count = expand.plan.count {
      return try place.writer.count(sql, unsafe count.parameters.values(at: row.pointee))
    }
    return try place.writer.count(expand.sql, unsafe expand.plan.parameters.values(at: row.pointee))
  }
}

extension Row {
  /// The text of a column, copied.
  func utf8Text(_ column: Int32) -> String { unsafe String(decoding: utf8(column), as: UTF8.self) }
}
