/// Stands for bytes where a value is printed or dumped: content may be long, and holds personal data.
package struct ByteCount: Sendable, CustomStringConvertible, CustomReflectable {
  private let count: Int

  /// So many bytes.
  package init(_ bytes: some Collection) { count = bytes.count }

  /// `12 bytes`.
  package var description: String { "\(count) bytes" }

  /// Nothing but that.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
