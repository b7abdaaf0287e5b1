import LarderCore

/// A value of a selection, with its key.
public struct ObjectEntry<Value: Sendable>: Sendable {
  /// The key.
  public let key: String
  /// The value.
  public let value: Value
}

extension ObjectEntry: Equatable where Value: Equatable {}
extension ObjectEntry: Hashable where Value: Hashable {}

/// One page of a selection.
public struct ObjectPage<Item: Sendable>: Sendable {
  /// The values or their metadata, in the selection's order.
  public let items: [Item]
  /// The cursor of the next page; nil if this page is the last.
  public let next: ObjectCursor?
}

/// A place in a selection's order: the next page begins after it.
///
/// The cursor consists of a key, and of a label if the selection is ordered by labels. It contains nothing that
/// changes: if values are put, deleted or changed between two pages, no other value is repeated or skipped. You can
/// save a cursor as text.
public struct ObjectCursor: Sendable, Hashable, Codable, LosslessStringConvertible {
  /// Nil if the selection is ordered by keys.
  let label: ObjectKey?
  let key: ObjectKey

  init(label: ObjectKey?, key: ObjectKey) {
    self.label = label
    self.key = key
  }

  /// The cursor as text of letters, digits, `-` and `_`, which ``init(_:)`` reads.
  public var description: String {
    let label = label.map { Array($0.text.utf8) } ?? []
    let bytes = [UInt8(label.count >> 8 & 0xFF), UInt8(label.count & 0xFF)] + label + Array(key.text.utf8)
    return Base64.text(bytes, isURLSafe: true)
  }

  /// Reads a cursor from the text of ``description``; nil for any other text.
  public init?(_ description: String) {
    guard description.utf8.count <= 4 * ObjectKey.byteLimit else { return nil }
    guard let bytes = Base64.decode(description), bytes.count > 2 else { return nil }
    let count = Int(bytes[0]) << 8 | Int(bytes[1])
    let rest = bytes.dropFirst(2)
    guard rest.count > count, let label = String(validating: rest.prefix(count), as: UTF8.self),
      let key = String(validating: rest.dropFirst(count), as: UTF8.self)
    else { return nil }
    self.init(label: count == 0 ? nil : ObjectKey(stored: label), key: ObjectKey(stored: key))
  }

  /// Decodes the cursor from its text. Throws for any other text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cursor = ObjectCursor(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is not a cursor")
    }
    self = cursor
  }

  /// Encodes the cursor as its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
