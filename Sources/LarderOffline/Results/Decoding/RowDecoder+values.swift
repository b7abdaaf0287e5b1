import LarderOData
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Values of types other than scalars.
extension RowDecoder {
  /// A member as a value of any type. Dates, GUIDs and decimals are read directly from the column's bytes.
  func value<Value: Decodable>(_ type: Value.Type, _ place: MemberPlace, _ key: some CodingKey) throws -> Value {
    // Each type has been compared where its value is cast. An optional of `Value` would need its metadata in each call.
    @inline(__always)
    func cast<Exact>(_ exact: Exact) -> Value { unsafe unsafeBitCast(exact, to: Value.self) }
    switch place.storage {
    case .dateTimeOffset, .dateTime, .date, .guid, .decimal:
      guard let bytes = unsafe try row().pointee.utf8IfText(place.column) else { break }
      switch place.storage {
      case .dateTimeOffset where Value.self == ODataDateTimeOffset.self:
        if let timestamp = unsafe ODataDateTimeOffset(utf8: bytes) { return cast(timestamp) }
      case .dateTime where Value.self == ODataDateTime.self:
        if let timestamp = unsafe ODataDateTime(utf8: bytes) { return cast(timestamp) }
      case .date where Value.self == ODataDate.self:
        if let date = unsafe ODataDate(utf8: bytes) { return cast(date) }
      case .guid:
        if Value.self == UUID.self, let uuid = unsafe ScalarText.uuid(bytes) { return cast(uuid) }
      case .decimal where Value.self == ODataDecimal.self:
        if let decimal = unsafe ODataDecimal(utf8: bytes) { return cast(decimal) }
      case .decimal:
        if Value.self == Decimal.self, let decimal = unsafe ScalarText.decimal(bytes) { return cast(decimal) }
      default:
        if Value.self == Date.self, let date = unsafe ScalarText.date(bytes) { return cast(date) }
      }
    default: break
    }
    return try otherValue(type, Int(place.number), key)
  }

  @inline(never)
  private func otherValue<Value: Decodable>(
    _ type: Value.Type, _ number: Int, _ key: any CodingKey
  ) throws -> Value {
    guard number >= 0 else { return try dynamicDecoder(key).value(type) }
    switch scope.members[number] {
    case .column: return try compoundOrScalar(type, number, key)
    case .complex(let marker, let inner):
      let row = unsafe try row()
      guard try has(number) else { throw missing(key) }
      guard unsafe !row.pointee.isNull(marker) else { throw null(type, key) }
      try checkFits(marker, .complex, key)
      return try Value(from: self.inner(number, inner, key))
    case .expand(let expand):
      guard let value = try related(type, expand, key) else { throw null(type, key) }
      return value
    case .text, .id, .typeName: return try ScalarDecoder.make(type, try cell(number, key))
    }
  }

  /// A member as a value of any type; nil if the member is a related entity that does not exist.
  func valueIfRelated<Value: Decodable>(
    _ type: Value.Type, _ place: MemberPlace, _ key: some CodingKey
  ) throws -> Value? {
    if place.column < 0, place.number >= 0, case .expand(let expand) = scope.members[Int(place.number)] {
      return try related(type, expand, key)
    }
    return try value(type, place, key)
  }

  private func compoundOrScalar<Value: Decodable>(
    _ type: Value.Type, _ number: Int, _ key: any CodingKey
  ) throws -> Value {
    guard let decoder = try node(number, key) else { return try ScalarDecoder.make(type, try cell(number, key)) }
    if decoder.node == .null { throw null(type, key) }
    return try decoder.value(type)
  }

  /// The decoder of a column that holds JSON; nil for other members.
  private func node(_ number: Int, _ key: any CodingKey) throws -> NodeDecoder? {
    guard case .column(let column, let storage, let type) = scope.members[number], storage == .json || storage == .geo
    else { return nil }
    guard try has(number) else { throw missing(key) }
    try checkFits(column, storage, key)
    let row = unsafe try row()
    guard unsafe row.pointee.storageClass(column) == .text else { return nil }
    let node = unsafe try ResultTypes.node(Array(row.pointee.utf8(column)))
    let types = place.writer.types
    return NodeDecoder(
      node, ValueType(type, in: types.model), codingPath: parentPath + [key], model: types.model)
  }

  /// Decodes related entities: arrays and sets element by element, other types through JSON.
  private func related<Value: Decodable>(
    _ type: Value.Type, _ expand: RowExpand, _ key: any CodingKey
  ) throws -> Value? {
    guard let inner = expand.scope, key.stringValue == expand.name else {
      return try ScalarDecoder.make(type, try cell(scope.number(key.stringValue) ?? -1, key))
    }
    let row = unsafe try row()
    unsafe try expand.plan.check(place.writer.connection, at: row.pointee)
    let values = unsafe expand.plan.parameters.values(at: row.pointee)
    let decoder = further(expand, inner, key)
    defer { endUnlessCached(decoder, expand) }
    if !expand.isCollection {
      var decoded: Value?
      try place.writer.forEachRow(expand.sql, values) { row in
        decoded = try decoder.place.with(row) { try Value(from: decoder) }
        return false
      }
      return decoded
    }
    guard let rows = type as? any DecodableRows.Type else { return try written(type, expand, key) }
    let decodedRows = try rows.rows({ decodeNext in try decoder.eachRow(expand, values, decodeNext) }, from: decoder)
    return decodedRows as? Value
  }

  /// Calls `take` for every row of a page.
  private func eachRow(_ expand: RowExpand, _ values: [SQLValue], _ decodeNext: () throws -> Void) throws {
    var paging = ResultPaging(expand.plan.page)
    try place.writer.forEachRow(expand.sql, values) { row in
      guard paging.accepts(row) else { return false }
      try place.with(row, decodeNext)
      return true
    }
  }

  private func written<Value: Decodable>(
    _ type: Value.Type, _ expand: RowExpand, _ key: any CodingKey
  ) throws -> Value {
    try node(expand, key).value(type)
  }

  /// The related entities as V4 JSON.
  private func node(_ expand: RowExpand, _ key: any CodingKey) throws -> NodeDecoder {
    let writer = ResultWriter(connection: place.writer.connection, types: expand.types)
    var out = ResultBytes()
    out.append(UInt8(ascii: "{"))
    unsafe try writer.expand(expand.written, row().pointee, nil, into: &out)
    out.close(UInt8(ascii: "}"))
    let node = try ResultTypes.node(out.takeAll())
    return NodeDecoder(
      node[expand.written.name] ?? .null, expand.type, codingPath: parentPath + [key], model: expand.types.model)
  }

  private func null<Value>(_ type: Value.Type, _ key: any CodingKey) -> DecodingError {
    let number = scope.number(key.stringValue) ?? -1
    let declared = number < 0 ? .none : scope.members[number].declared
    return .mismatch(type, holds: DecodedScalar.null.kind, declared, at: parentPath + [key])
  }

  /// The decoder of a member, for types that request containers explicitly.
  func member(_ number: Int, _ key: any CodingKey) throws -> any Decoder {
    guard number >= 0 else { return try dynamicDecoder(key) }
    switch scope.members[number] {
    case .complex(_, let inner): return self.inner(number, inner, key)
    case .expand(let expand) where expand.scope != nil:
      return try node(expand, key)
    default:
      if let node = try node(number, key) { return node }
      return try cell(number, key)
    }
  }
}
