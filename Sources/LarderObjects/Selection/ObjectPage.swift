#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value of a selection, with its key.
public struct ObjectEntry<Value: Sendable>: Sendable {
  /// The key.
  public let key: String
  /// The value.
  public let value: Value
}

extension ObjectEntry: Equatable where Value: Equatable {}
extension ObjectEntry: Hashable where Value: Hashable {}

/// A part of the values of a selection.
public struct ObjectPage<Item: Sendable>: Sendable {
  /// The values, or what is known about them, in the selection's order.
  public let items: [Item]
  /// Where the next page begins; nil where there was nothing after this one.
  public let next: ObjectCursor?
}

/// A place in a selection's order, after a value: the next page begins behind it.
///
/// It names a key, and a label where the order is one of labels, and nothing that changes: values put, deleted or changed
/// between two pages neither repeat others nor hide them. It may be kept as text.
public struct ObjectCursor: Sendable, Hashable, Codable, LosslessStringConvertible {
  /// Nil where the order is one of keys.
  let label: ObjectKey?
  let key: ObjectKey

  init(label: ObjectKey?, key: ObjectKey) {
    self.label = label
    self.key = key
  }

  /// A text of letters, digits, `-` and `_`, from which the place can be made again.
  public var description: String {
    let label = label.map { Array($0.text.utf8) } ?? []
    let bytes = [UInt8(label.count >> 8 & 0xFF), UInt8(label.count & 0xFF)] + label + Array(key.text.utf8)
    return Data(bytes).base64EncodedString().compactMap {
      $0 == "=" ? nil : $0 == "+" ? "-" : $0 == "/" ? "_" : "\($0)"
    }
    .joined()
  }

  /// Reads such a text; nil for any other.
  public init?(_ description: String) {
    guard description.utf8.count <= 4 * ObjectStore.keyByteLimit else { return nil }
    var text = String(description.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let bytes = Data(base64Encoded: text).map({ [UInt8]($0) }), bytes.count > 2 else { return nil }
    let count = Int(bytes[0]) << 8 | Int(bytes[1])
    let rest = bytes.dropFirst(2)
    guard rest.count > count, let label = String(validating: rest.prefix(count), as: UTF8.self),
      let key = String(validating: rest.dropFirst(count), as: UTF8.self)
    else { return nil }
    self.init(label: count == 0 ? nil : ObjectKey(stored: label), key: ObjectKey(stored: key))
  }

  /// Reads the text from a decoder; throws for any other text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cursor = ObjectCursor(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "No place in a selection")
    }
    self = cursor
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
