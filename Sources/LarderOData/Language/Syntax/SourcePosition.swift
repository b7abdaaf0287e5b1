/// The position of a node in the text that it was parsed from. Equality ignores it: trees with the same content are
/// equal, wherever they were written.
package struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
  private let place: Int32

  /// The position of a node that was built, not parsed.
  package static let none = SourcePosition(offset: nil)

  /// The position in bytes in the original text (before percent-decoding); nil if the node was built.
  package var offset: Int? { place < 0 ? nil : Int(place) }

  /// Creates a position; positions beyond 2 GiB are not kept.
  package init(offset: Int?) { place = offset.flatMap { Int32(exactly: $0) } ?? -1 }

  /// Always true: equality of trees ignores positions.
  package static func == (left: SourcePosition, right: SourcePosition) -> Bool { true }

  /// Hashes nothing.
  package func hash(into hasher: inout Hasher) {}

  /// The offset in decimal, or a dash.
  package var description: String { offset.map(String.init) ?? "-" }
}
