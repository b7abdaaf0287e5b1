extension ODataBoundExpression {
  /// Whether the expression takes the type of the other operand: a literal, an array or an object.
  var isConstant: Bool {
    switch kind {
    case .literal, .list, .array, .object: true
    default: false
    }
  }
}

// Literals, and their conversion to the types of other operands (§5.1.1.14).
extension Binding {
  func literal(_ value: ODataValue, at position: SourcePosition) -> ODataBoundExpression {
    switch value {
    case .null: return ODataBoundExpression(.literal(.null), .null, at: position)
    case .enumeration(let members):
      return ODataBoundExpression(.literal(.string(members)), .primitive(.string), at: position)
    case .untypedNumber(let number):
      return ODataBoundExpression(.literal(.decimal(number)), .primitive(.decimal), at: position)
    default:
      let type = value.type.map { ODataBoundType(.primitive($0)) } ?? ODataBoundType(.untyped)
      return ODataBoundExpression(.literal(value), type, at: position)
    }
  }

  /// `Ns.Color'Red,Blue'`
  func enumeration(
    _ literal: ODataEnumerationLiteral, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    guard let name = literal.typeName else {
      return ODataBoundExpression(.literal(.string(literal.members)), .primitive(.string), at: position)
    }
    guard case .enumeration(let type)? = index.type(name) else {
      let names = index.types.filter { if case .enumeration = $0.value { true } else { false } }.keys
      throw unknown(name, what: "enumeration type", place: "in the model", among: names, at: position)
    }
    return try enumeration(literal.members, of: type, at: position)
  }

  private func enumeration(
    _ members: String, of type: ODataDeclaredEnum, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var value: Int64 = 0
    var count = 0
    for part in members.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let name = trimmed(part)
      guard let member = type.value(of: name) ?? Int64(name) else {
        throw unknown(
          name, what: "member", place: "in \(type.name)", among: type.enumeration.members.map(\.name), at: position)
      }
      value |= member
      count += 1
    }
    guard count == 1 || type.enumeration.isFlags else {
      throw error(.invalidLiteral("\(type.name) has no flags; give one member, not '\(members)'"), at: position)
    }
    return ODataBoundExpression(.enumeration(type, value), ODataBoundType(.enumeration(type)), at: position)
  }

  /// Converts a whole number next to an enumeration to one of its values. The standard writes `'1'` or `Ns.Color'1'`
  /// and promotes numbers only to numbers, but services accept `Color eq 1`, which can mean nothing else.
  private func enumeration(
    _ value: ODataValue, of expression: ODataBoundExpression, _ type: ODataDeclaredEnum
  ) throws(ODataBindingError) -> ODataBoundExpression {
    guard value.type?.isInteger == true, case .int64(let number)? = value.exactly(.int64) else { return expression }
    guard type.members(of: number) != nil else {
      throw error(.invalidLiteral("\(type.name) has no member with the value \(number)"), at: expression.position)
    }
    return ODataBoundExpression(
      .enumeration(type, number), ODataBoundType(.enumeration(type)), at: expression.position)
  }

  private func trimmed(_ part: Substring.UTF8View) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let start = part.drop(while: isSpace)
    var end = start.endIndex
    while end > start.startIndex, isSpace(start[start.index(before: end)]) { end = start.index(before: end) }
    return String(Substring(start[start.startIndex..<end]))
  }

  /// Converts a literal to a type that holds it exactly. Other expressions, and literals that the type does not hold,
  /// are returned unchanged.
  ///
  /// - Throws: if the literal can only be meant as a value of the type and is not one: a string that names no member.
  func convert(
    _ expression: ODataBoundExpression, to item: ODataBoundType.Item
  ) throws(ODataBindingError) -> ODataBoundExpression {
    switch expression.kind {
    case .literal(let value): return try convert(value, of: expression, to: item)
    case .list(let items):
      let converted = try convert(items, to: item)
      return ODataBoundExpression(.list(converted), collectionType(of: converted), at: expression.position)
    case .array(let items):
      let converted = try convert(items, to: item)
      return ODataBoundExpression(.array(converted), collectionType(of: converted), at: expression.position)
    case .object(let members): return try convert(members, of: expression, to: item)
    default: return expression
    }
  }

  private func convert(
    _ items: [ODataBoundExpression], to item: ODataBoundType.Item
  ) throws(ODataBindingError) -> [ODataBoundExpression] {
    var converted: [ODataBoundExpression] = []
    converted.reserveCapacity(items.count)
    for value in items { converted.append(try convert(value, to: item)) }
    return converted
  }

  private func convert(
    _ value: ODataValue, of expression: ODataBoundExpression, to item: ODataBoundType.Item
  ) throws(ODataBindingError) -> ODataBoundExpression {
    switch (value, item) {
    case (.null, _):
      return ODataBoundExpression(.literal(.null), ODataBoundType(item, isNullable: true), at: expression.position)
    case (.string(let members), .enumeration(let type)):
      return try enumeration(members, of: type, at: expression.position)
    case (_, .enumeration(let type)):
      return try enumeration(value, of: expression, type)
    default:
      guard let primitive = item.primitive, expression.type.item != item else { return expression }
      guard value.type != primitive else {
        return ODataBoundExpression(.literal(value), ODataBoundType(item), at: expression.position)
      }
      guard let value = try converted(value, to: primitive, at: expression.position) else { return expression }
      return ODataBoundExpression(.literal(value), ODataBoundType(item), at: expression.position)
    }
  }

  /// Converts a value to another primitive type; nil if that type cannot hold it.
  private func converted(
    _ value: ODataValue, to type: EdmPrimitiveType, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataValue? {
    switch (value, type) {
    case (.string(let text), .duration), (.string(let text), .time):
      guard let duration = ODataDuration(text) else {
        throw error(
          .invalidLiteral("'\(text)' is not a valid \(type.qualifiedName); expected a duration such as 'PT5M'"),
          at: position)
      }
      return .duration(duration)
    case (.duration, .time): return value
    // V2 and V4 write timestamps with and without an offset. One without an offset is read as UTC.
    case (.dateTime(let dateTime), .dateTimeOffset):
      return ODataDateTimeOffset(date: dateTime.date, time: dateTime.time).map { .dateTimeOffset($0) }
    case (.dateTimeOffset(let dateTime), .dateTime):
      guard let universal = dateTime.with(offsetMinutes: 0) else { return nil }
      return .dateTime(ODataDateTime(date: universal.date, time: universal.time))
    // A date compared with a timestamp means midnight of that day in UTC, as in `cast` (§5.1.1.10.1). The standard does
    // not promote dates, but clients widely write this, and it can mean nothing else.
    case (.date(let day), .dateTimeOffset):
      return ODataDateTimeOffset(date: day, time: .midnight).map { .dateTimeOffset($0) }
    case (.date(let day), .dateTime): return .dateTime(ODataDateTime(date: day, time: .midnight))
    case (.int32(let number), .boolean) where dialect == .v2 && (number == 0 || number == 1):
      return .boolean(number == 1)
    default: return value.exactly(type)
    }
  }

  /// Converts an object: looks its members up in a type.
  private func convert(
    _ members: [ODataBoundMember], of expression: ODataBoundExpression, to item: ODataBoundType.Item
  ) throws(ODataBindingError) -> ODataBoundExpression {
    guard case .structure(var structure) = item else { return expression }
    for member in members where member.name == "@odata.type" || member.name == "@type" {
      guard case .literal(.string(let name)) = member.value.kind else { continue }
      guard let type = index.structure(String(name.drop { $0 == "#" })), type.derives(from: structure) else {
        throw error(.wrongType(expected: structure.name, found: name), at: expression.position)
      }
      structure = type
    }
    var converted: [ODataBoundMember] = []
    for var member in members {
      if !member.name.utf8.contains(UInt8(ascii: "@")) {
        try lookUp(&member, in: structure, at: expression.position)
      }
      converted.append(member)
    }
    return ODataBoundExpression(.object(converted), ODataBoundType(.structure(structure)), at: expression.position)
  }

  private func lookUp(
    _ member: inout ODataBoundMember, in structure: EdmStructure, at position: SourcePosition
  ) throws(ODataBindingError) {
    switch self.member(member.name, of: structure) {
    case .property(let property)?:
      member.property = property
      member.value = try fit(member.value, to: property.type, of: "'\(member.name)'", at: position)
    case .navigation(let property)?:
      member.value = try fit(member.value, to: property.type, of: "'\(member.name)'", at: position)
    case nil:
      guard structure.isOpen else {
        throw unknown(
          member.name, what: "property", place: "in \(structure.name)", among: index.memberNames(of: structure),
          at: position)
      }
    }
  }

  /// Whether a literal is not converted for keys and arguments, which have types of their own: conversions that only
  /// operators allow do not apply to them.
  private func isUsedUnchanged(_ expression: ODataBoundExpression, _ item: ODataBoundType.Item) -> Bool {
    guard case .literal(let value) = expression.kind, value.type != nil else { return false }
    if case .date = value { return item.primitive?.isTimestamp == true }
    guard case .enumeration = item else { return false }
    return value.type?.isInteger == true
  }

  /// Converts an expression to the type of a parameter or property; literals become values of the type.
  ///
  /// - Throws: if the value is of another type.
  func fit(
    _ expression: ODataBoundExpression, to type: ODataBoundType, of what: @autoclosure () -> String,
    at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let value = isUsedUnchanged(expression, type.item) ? expression : try convert(expression, to: type.item)
    let place = value.position.offset == nil ? position : value.position
    guard value.isNull || value.type.isCollection == type.isCollection || value.type.item == .untyped,
      let common = ODataBoundType.promoted(value.type.single, type.single)
    else { throw error(.wrongType(expected: "\(type) for \(what())", found: "\(value.type)"), at: place) }
    // A literal that the type does not hold, such as 300 for Edm.Byte, would be promoted to a wider type.
    if value.isConstant, let expectedType = type.item.primitive, let commonType = common.item.primitive,
      expectedType != commonType
    {
      throw error(.wrongType(expected: "\(type) for \(what())", found: "\(value.type)"), at: place)
    }
    return value
  }
}
