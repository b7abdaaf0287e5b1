#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The exact types in `Codable` types. Each is coded as its text, so that no digit and no offset is lost.

extension ODataDecimal: Codable {
  /// Decodes a text or a number. A coder that converts numbers itself gives at most the 38 digits of `Decimal`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let text = try? container.decode(String.self) else {
      if let number = try? container.decode(Int64.self) {
        self.init(number)
      } else {
        self.init(try container.decode(Decimal.self))
      }
      return
    }
    guard let number = ODataDecimal(text) else { throw container.malformed(ODataDecimal.self) }
    self = number
  }

  /// Encodes the number as its text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension ODataDate: Codable {
  /// Decodes `2026-11-27`.
  public init(from decoder: any Decoder) throws { self = try decoder.decode(text: ODataDate.init) }
  /// Encodes the date as its text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension ODataTimeOfDay: Codable {
  /// Decodes `12:30:00`.
  public init(from decoder: any Decoder) throws { self = try decoder.decode(text: ODataTimeOfDay.init) }
  /// Encodes the time as its text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension ODataDateTimeOffset: Codable {
  /// Decodes `2026-11-27T12:30:00+01:00`.
  public init(from decoder: any Decoder) throws { self = try decoder.decode(text: ODataDateTimeOffset.init) }
  /// Encodes the timestamp as its text, with its offset.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension ODataDateTime: Codable {
  /// Decodes `2026-11-27T12:30:00`.
  public init(from decoder: any Decoder) throws { self = try decoder.decode(text: ODataDateTime.init) }
  /// Encodes the timestamp as its text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension ODataDuration: Codable {
  /// Decodes `PT1H30M`.
  public init(from decoder: any Decoder) throws { self = try decoder.decode(text: ODataDuration.init) }
  /// Encodes the duration as its text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension ODataGuid: Codable {
  /// Decodes the 36 characters of a GUID.
  public init(from decoder: any Decoder) throws { self = try decoder.decode(text: ODataGuid.init) }
  /// Encodes the GUID as its text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}

extension Decoder {
  /// Decodes a text and converts it; throws if it has another form.
  fileprivate func decode<Value>(text convert: (String) -> Value?) throws -> Value {
    let container = try singleValueContainer()
    guard let value = convert(try container.decode(String.self)) else { throw container.malformed(Value.self) }
    return value
  }
}

extension Encoder {
  fileprivate func encode(text: String) throws {
    var container = singleValueContainer()
    try container.encode(text)
  }
}

extension SingleValueDecodingContainer {
  /// The error for a text of another form. It does not contain the text.
  fileprivate func malformed(_ type: Any.Type) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: "The text is not an \(type)"))
  }
}
