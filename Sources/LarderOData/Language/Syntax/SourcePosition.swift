/// Where a node stood in the text that it was read from. It takes no part in equality: trees are equal that say the same,
/// wherever they were written.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
  private let place: Int32

  /// A node that was built, not read.
  public static let none = SourcePosition(offset: nil)

  /// Bytes before the node in the text as it was given (before percent-decoding); nil where the node was built.
  public var offset: Int? { place < 0 ? nil : Int(place) }

  /// Marks a place; places beyond 2 GiB are not kept.
  package init(offset: Int?) { place = offset.flatMap { Int32(exactly: $0) } ?? -1 }

  /// All positions are equal.
  public static func == (left: SourcePosition, right: SourcePosition) -> Bool { true }

  /// Adds nothing.
  public func hash(into hasher: inout Hasher) {}

  /// The offset in decimal, or a dash.
  public var description: String { offset.map(String.init) ?? "-" }
}
