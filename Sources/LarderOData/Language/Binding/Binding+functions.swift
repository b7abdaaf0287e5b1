// Canonical functions (URL Conventions 4.01 §5.1.1.5 to §5.1.1.11; OData V2 URI Conventions §4.5).
extension Binding {
  func call(
    _ function: ODataCanonicalFunction, _ arguments: [ODataExpression], at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var bound = try all(arguments)
    var function = function
    if function == .substringof {
      // V2's `substringof` has the substring first.
      function = .contains
      bound.reverse()
    }
    let arity = function.arity(dialect)
    guard arity.contains(bound.count) || function == .concat && bound.count > 1 else {
      throw wrongArguments(function, bound, at: position)
    }
    let type: ODataBoundType?
    switch function {
    case .concat: return try concat(bound, at: position)
    case .contains, .startswith, .endswith, .indexof, .length, .substring, .hassubset, .hassubsequence:
      type = try sequence(function, &bound)
    case .tolower, .toupper, .trim, .matchesPattern, .replace, .substringof:
      let result: EdmPrimitiveType = function == .matchesPattern ? .boolean : .string
      type = areStrings(bound[...]) ? .primitive(result) : nil
    case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .date, .time, .totaloffsetminutes,
      .totalseconds:
      type = try temporal(function, &bound)
    case .now, .mindatetime, .maxdatetime: type = .primitive(.dateTimeOffset)
    case .ceiling, .floor, .round: type = rounded(bound)
    case .geoDistance, .geoIntersects, .geoLength: type = geo(function, bound)
    }
    guard let type else { throw wrongArguments(function, bound, at: position) }
    let isNullable = bound.contains { $0.type.isNullable }
    return ODataBoundExpression(.call(function, bound), type.nullable(isNullable), at: position)
  }

  private func wrongArguments(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression], at position: SourcePosition
  ) -> ODataBindingError {
    error(
      .wrongArguments(function.rawValue, found: arguments.map { "\($0.type)" }, expected: function.signatures),
      at: position)
  }

  private func string(_ argument: ODataBoundExpression) -> Bool {
    !argument.type.isCollection && (argument.type.item.primitive == .string || argument.type.item.isOpen)
  }

  private func areStrings(_ arguments: ArraySlice<ODataBoundExpression>) -> Bool {
    arguments.allSatisfy { string($0) }
  }

  private func areIntegers(_ arguments: ArraySlice<ODataBoundExpression>) -> Bool {
    arguments.allSatisfy {
      !$0.type.isCollection && ($0.type.item.primitive?.isInteger ?? $0.type.item.isOpen)
    }
  }

  /// Binds chains of `concat` as one node, so that V2's `concat(A,B,C)` and V4's `concat(concat(A,B),C)` are equal.
  private func concat(
    _ arguments: [ODataBoundExpression], at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let isNullable = arguments.contains { $0.type.isNullable }
    if areStrings(arguments[...]) {
      var parts: [ODataBoundExpression] = []
      for argument in arguments {
        if case .call(.concat, let inner) = argument.kind, !argument.type.isCollection {
          parts += inner
        } else {
          parts.append(argument)
        }
      }
      return ODataBoundExpression(.call(.concat, parts), .primitive(.string, isNullable: isNullable), at: position)
    }
    var arguments = arguments
    guard arguments.count == 2, let item = try collections(&arguments) else {
      throw wrongArguments(.concat, arguments, at: position)
    }
    let type = ODataBoundType(item, isCollection: true, isNullable: isNullable)
    return ODataBoundExpression(.call(.concat, arguments), type, at: position)
  }

  /// The common type of the items of two collections.
  private func collections(_ arguments: inout [ODataBoundExpression]) throws(ODataBindingError) -> ODataBoundType.Item?
  {
    let (left, right) = (arguments[0], arguments[1])
    guard left.type.isCollection || left.type.item.isOpen, right.type.isCollection || right.type.item.isOpen else {
      return nil
    }
    if left.isConstant, !right.isConstant { arguments[0] = try convert(left, to: right.type.item) }
    if right.isConstant, !left.isConstant { arguments[1] = try convert(right, to: left.type.item) }
    return ODataBoundType.promoted(arguments[0].type.single, arguments[1].type.single)?.item
  }

  /// Functions of strings and of collections.
  private func sequence(
    _ function: ODataCanonicalFunction, _ arguments: inout [ODataBoundExpression]
  ) throws(ODataBindingError) -> ODataBoundType? {
    let isSet = function == .hassubset || function == .hassubsequence
    let isCollection = arguments[0].type.isCollection
    switch function {
    case .length: return isCollection || string(arguments[0]) ? .primitive(.int32) : nil
    case .substring:
      guard areIntegers(arguments[1...]) else { return nil }
      if isCollection { return arguments[0].type }
      return string(arguments[0]) ? .primitive(.string) : nil
    default:
      let result: ODataBoundType = function == .indexof ? .primitive(.int32) : .boolean
      if !isSet, areStrings(arguments[...]) { return result }
      guard isSet || isCollection else { return nil }
      return try collections(&arguments) == nil ? nil : result
    }
  }

  private func temporal(
    _ function: ODataCanonicalFunction, _ arguments: inout [ODataBoundExpression]
  ) throws(ODataBindingError) -> ODataBoundType? {
    if function == .totalseconds { arguments[0] = try convert(arguments[0], to: .primitive(.duration)) }
    let type = arguments[0].type
    guard !type.isCollection else { return nil }
    let result: ODataBoundType =
      switch function {
      case .date: .primitive(.date)
      case .time: .primitive(.timeOfDay)
      case .fractionalseconds, .totalseconds: .primitive(.decimal)
      default: .primitive(.int32)
      }
    guard let primitive = type.item.primitive else { return type.item.isOpen ? result : nil }
    let isTaken =
      switch function {
      case .year, .month, .day: primitive.isTimestamp || primitive == .date
      case .hour, .minute, .second: primitive.isTimestamp || primitive == .timeOfDay || primitive.isDuration
      case .fractionalseconds: primitive.isTimestamp || primitive == .timeOfDay || primitive == .time
      case .date, .time: primitive.isTimestamp
      case .totaloffsetminutes: primitive == .dateTimeOffset
      default: primitive.isDuration
      }
    return isTaken ? result : nil
  }

  /// The result type of rounding: Double for Double and Single, Decimal for other numbers (§5.1.1.9).
  private func rounded(_ arguments: [ODataBoundExpression]) -> ODataBoundType? {
    let type = arguments[0].type
    guard !type.isCollection else { return nil }
    guard let primitive = type.item.primitive else { return type.item.isOpen ? .untyped : nil }
    return primitive.isNumeric ? .primitive(primitive.isFloating ? .double : .decimal) : nil
  }

  private func geo(_ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression]) -> ODataBoundType? {
    let shapes: [[EdmPrimitiveType]] =
      switch function {
      case .geoDistance: [[.geographyPoint, .geometryPoint], [.geographyPoint, .geometryPoint]]
      case .geoIntersects: [[.geographyPoint, .geometryPoint], [.geographyPolygon, .geometryPolygon]]
      default: [[.geographyLineString, .geometryLineString]]
      }
    var space: ODataGeo.Space?
    for (argument, allowed) in zip(arguments, shapes) {
      guard !argument.type.isCollection else { return nil }
      guard let type = argument.type.item.primitive else {
        if argument.type.item.isOpen { continue }
        return nil
      }
      guard allowed.contains(type) || type == .geography || type == .geometry, space == nil || type.geoSpace == space
      else { return nil }
      space = type.geoSpace
    }
    return function == .geoIntersects ? .boolean : .primitive(.double)
  }
}

extension ODataCanonicalFunction {
  /// The signatures of the function, for messages.
  var signatures: [String] {
    switch self {
    case .concat, .contains, .startswith, .endswith, .indexof:
      ["(Edm.String,Edm.String)", "(Collection,Collection)"]
    case .hassubset, .hassubsequence: ["(Collection,Collection)"]
    case .length: ["(Edm.String)", "(Collection)"]
    case .substring: ["(Edm.String,Edm.Int32)", "(Edm.String,Edm.Int32,Edm.Int32)", "(Collection,Edm.Int32,…)"]
    case .matchesPattern, .substringof: ["(Edm.String,Edm.String)"]
    case .replace: ["(Edm.String,Edm.String,Edm.String)"]
    case .tolower, .toupper, .trim: ["(Edm.String)"]
    case .year, .month, .day: ["(Edm.Date)", "(Edm.DateTimeOffset)"]
    case .hour, .minute, .second: ["(Edm.DateTimeOffset)", "(Edm.TimeOfDay)", "(Edm.Duration)"]
    case .fractionalseconds: ["(Edm.DateTimeOffset)", "(Edm.TimeOfDay)"]
    case .date, .time, .totaloffsetminutes: ["(Edm.DateTimeOffset)"]
    case .totalseconds: ["(Edm.Duration)"]
    case .now, .mindatetime, .maxdatetime: ["()"]
    case .ceiling, .floor, .round: ["a number"]
    case .geoDistance: ["two points of one space"]
    case .geoIntersects: ["a point and a polygon of one space"]
    case .geoLength: ["a line"]
    }
  }
}
