import LarderOData
import LarderService

/// Converts the values of a change to the types of the model, or rejects them with the name of the property.
struct ChangedValue {
  let model: EdmModel

  /// The maximum nesting depth of complex values.
  private static let deepest = 64

  /// Converts a value to the type of a property.
  ///
  /// Numbers are converted between types if nothing is lost; texts are converted to the types that JSON writes as
  /// strings. Throws `invalidInput`.
  func fit(_ value: ODataValue, to property: EdmProperty, at place: String) throws(OfflineODataError) -> ODataValue {
    try fit(value, property.type, property.facets, isNullable: property.isNullable, at: place, depth: 0)
  }

  /// Converts a value to the type of an action's parameter.
  func fit(_ value: ODataValue, to parameter: EdmParameter, at place: String) throws(OfflineODataError) -> ODataValue {
    try fit(value, parameter.type, parameter.facets, isNullable: parameter.isNullable, at: place, depth: 0)
  }

  private func fit(
    _ value: ODataValue, _ type: EdmTypeReference, _ facets: EdmFacets, isNullable: Bool, at place: String, depth: Int
  ) throws(OfflineODataError) -> ODataValue {
    guard depth < Self.deepest else { throw OfflineODataError(.invalidValue, "\(place) is nested too deeply") }
    if case .collection(let item) = type {
      guard case .collection(let items) = value else {
        throw OfflineODataError(.invalidValue, "\(place) must be a collection")
      }
      var fitted: [ODataValue] = []
      for each in items {
        fitted.append(try fit(each, item, facets, isNullable: true, at: place, depth: depth + 1))
      }
      return .collection(fitted)
    }
    guard value != .null else {
      guard isNullable else { throw OfflineODataError(.nullNotAllowed, place) }
      return .null
    }
    let (underlying, more) = model.underlying(type)
    switch underlying {
    case .primitive(let primitive):
      let fitted = try self.primitive(value, primitive, at: place)
      try check(fitted, facets, at: place)
      if more != EdmFacets() { try check(fitted, more, at: place) }
      return fitted
    case .named(let name):
      if let declared = model.enumType(name) { return try enumeration(value, declared, at: place) }
      if model.structure(name) != nil { return try complex(value, name, at: place, depth: depth) }
      return value
    case .abstract, .collection: return value
    }
  }

  private func primitive(
    _ value: ODataValue, _ type: EdmPrimitiveType, at place: String
  ) throws(OfflineODataError) -> ODataValue {
    if value.type == type { return value }
    do throws(ODataValueError) {
      switch value {
      case .string(let text):
        switch type {
        case .string, .boolean, .byte, .sbyte, .int16, .int32: break
        case .dateTime, .dateTimeOffset:
          // V2's JSON has two forms of them.
          return try ODataValue(json: .string(text), type: type, dialect: model.version.dialect)
        default: return try ODataValue(text: text, type: type)
        }
      case .byte, .sbyte, .int16, .int32, .int64, .single, .double, .decimal, .untypedNumber:
        if let number = value.exactNumber, type.isNumber {
          return try ODataValue(text: number.description, type: type)
        }
      case .dateTime(let dateTime):
        if type == .dateTimeOffset { return try ODataValue(text: dateTime.description + "Z", type: type) }
      case .duration, .timeOfDay:
        if type == .time || type == .duration { return try ODataValue(text: try value.text(), type: type) }
      case .geo: return value
      default: break
      }
    } catch { throw OfflineODataError(.invalidValue, place, cause: error) }
    let actualType = value.type?.qualifiedName ?? "a value of another kind"
    throw OfflineODataError(.invalidValue, "\(place) must be \(type.qualifiedName), not \(actualType)")
  }

  private func enumeration(
    _ value: ODataValue, _ type: EdmEnumType, at place: String
  ) throws(OfflineODataError) -> ODataValue {
    let text: String
    switch value {
    case .enumeration(let members), .string(let members): text = members
    default:
      guard let number = value.wholeNumber else {
        throw OfflineODataError(.invalidValue, "\(place) must be \(type.qualifiedName)")
      }
      text = String(number)
    }
    do throws(ODataValueError) {
      return .enumeration(EnumerationValue.text(try EnumerationValue.read(text, type), type))
    } catch { throw OfflineODataError(.invalidValue, place, cause: error) }
  }

  private func complex(
    _ value: ODataValue, _ name: String, at place: String, depth: Int
  ) throws(OfflineODataError) -> ODataValue {
    guard case .complex(var complex) = value else { throw OfflineODataError(.invalidValue, "\(place) must be \(name)") }
    let typeName = complex.typeName ?? name
    guard let type = model.structure(typeName), model.isType(typeName, derivedFrom: name) else {
      throw OfflineODataError(.invalidValue, "\(place): \(typeName) is not derived from \(name)")
    }
    complex.properties = try complex.properties.map { property throws(OfflineODataError) in
      guard let declared = type.property(property.name) else {
        guard type.isOpen else {
          throw OfflineODataError.unknown(property.name, of: place, among: type.properties.map(\.name))
        }
        return property
      }
      return ODataProperty(
        property.name,
        try fit(
          property.value, declared.type, declared.facets, isNullable: declared.isNullable,
          at: "\(place)/\(property.name)", depth: depth + 1), annotations: property.annotations)
    }
    return .complex(complex)
  }

  // MARK: Facets (CSDL 4.01 §7.2)

  private func check(_ value: ODataValue, _ facets: EdmFacets, at place: String) throws(OfflineODataError) {
    if case .limit(let limit)? = facets.maxLength {
      let length =
        switch value {
        case .string(let text): text.unicodeScalars.count
        case .binary(let bytes): bytes.count
        default: 0
        }
      guard length <= limit else {
        throw OfflineODataError(.invalidValue, "\(place) has \(length) characters; the limit is \(limit)")
      }
    }
    if facets.isUnicode == false, case .string(let text) = value, !text.utf8.allSatisfy({ $0 < 0x80 }) {
      throw OfflineODataError(.invalidValue, "\(place) accepts only ASCII characters")
    }
    if case .decimal(let number) = value { try check(number, facets, at: place) }
  }

  private func check(_ number: ODataDecimal, _ facets: EdmFacets, at place: String) throws(OfflineODataError) {
    let digits = Self.digits(number)
    guard let digits else { return }
    if case .digits(let scale)? = facets.scale, digits.right > scale {
      throw OfflineODataError(
        .invalidValue, "\(place) has \(digits.right) digits after the decimal point; the limit is \(scale)")
    }
    guard let precision = facets.precision else { return }
    let right = if case .digits(let scale)? = facets.scale { scale } else { digits.right }
    guard digits.left + right <= precision || digits.left == 0 && digits.right <= precision else {
      throw OfflineODataError(.invalidValue, "\(place) has more than \(precision) digits")
    }
  }

  /// The number of significant digits before and after the decimal point; nil for a number that is not finite.
  private static func digits(_ number: ODataDecimal) -> (left: Int, right: Int)? {
    let text = number.description.drop { $0 == "-" }
    guard text.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }) else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    var right = parts.count > 1 ? parts[1] : ""
    while right.last == "0" { right.removeLast() }
    return (parts[0].drop { $0 == "0" }.count, right.count)
  }
}
