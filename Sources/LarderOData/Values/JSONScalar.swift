/// A JSON value other than an array or object. Its bytes are valid during the call only.
package enum JSONScalar {
  /// The text of a string, with escapes decoded.
  case string(UnsafeBufferPointer<UInt8>)
  /// The characters of a number.
  case number(UnsafeBufferPointer<UInt8>)
  /// `true` or `false`.
  case boolean(Bool)
  /// `null`.
  case null

  /// The kind, in words.
  var kind: String {
    switch self {
    case .string: "a JSON string"
    case .number: "a JSON number"
    case .boolean(let flag): "JSON \(flag)"
    case .null: "JSON null"
    }
  }
}

extension JSONScanner {
  /// The value of a scalar token as a value of a type. Only the bytes that the value keeps are copied.
  ///
  /// - Throws: ``ODataValueError`` if the token is not a value of the type, or begins an array or object.
  package func value(
    _ token: JSONToken, type: EdmPrimitiveType?, dialect: ODataDialect
  ) throws(ODataValueError) -> ODataValue {
    let result: Result<ODataValue, ODataValueError> = withBytes(of: token) { bytes in
      guard token.isEscaped else {
        return JSONScanner.value(token.kind, bytes, type: type, dialect: dialect)
      }
      return JSONText.unescape(bytes).withUnsafeBufferPointer {
        JSONScanner.value(token.kind, $0, type: type, dialect: dialect)
      }
    }
    return try result.get()
  }

  private static func value(
    _ kind: JSONToken.Kind, _ bytes: UnsafeBufferPointer<UInt8>, type: EdmPrimitiveType?, dialect: ODataDialect
  ) -> Result<ODataValue, ODataValueError> {
    let scalar: JSONScalar
    switch kind {
    case .string, .name: scalar = .string(bytes)
    case .number: scalar = .number(bytes)
    case .true: scalar = .boolean(true)
    case .false: scalar = .boolean(false)
    case .null: scalar = .null
    case .beginObject: return .failure(ODataValueError(.wrongKind("A JSON object"), type: type, text: "{"))
    case .beginArray: return .failure(ODataValueError(.wrongKind("A JSON array"), type: type, text: "["))
    case .endObject, .endArray: return .failure(ODataValueError(.wrongKind("A closing bracket"), type: type, text: ""))
    }
    do throws(ODataValueError) {
      return .success(try ODataValue(json: scalar, type: type, dialect: dialect))
    } catch {
      return .failure(error)
    }
  }
}
