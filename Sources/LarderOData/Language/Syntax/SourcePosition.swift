/// The position of a node in the text that it was parsed from. Equality ignores it: trees with the same content are
/// equal, wherever they were written.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
  private let place: Int32

  /// The position of a node that was built, not parsed.
  public static let none = SourcePosition(offset: nil)

  /// The position in bytes in the original text (before percent-decoding); nil if the node was built.
  public var offset: Int? { place < 0 ? nil : Int(place) }

  /// Creates a position; positions beyond 2 GiB are not kept.
  package init(offset: Int?) { place = offset.flatMap { Int32(exactly: $0) } ?? -1 }

  /// Always true: equality of trees ignores positions.
  public static func == (left: SourcePosition, right: SourcePosition) -> Bool { true }

  /// Hashes nothing.
  public func hash(into hasher: inout Hasher) {}

  /// The offset in decimal, or a dash.
  public var description: String { offset.map(String.init) ?? "-" }
}
