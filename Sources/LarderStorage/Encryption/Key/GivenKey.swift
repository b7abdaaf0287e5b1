/// A key among the options of a store: it is passed in, and nobody outside of the package reads it.
///
/// What an open store shows of its options holds a withheld key: options with one do not open the file.
package struct GivenKey: Sendable {
  /// The key; nil for a plain file, and where it is withheld.
  package let key: StorageKey?
  private let isWithheld: Bool

  /// Takes a key; nil says that the file is plain.
  package init(_ key: StorageKey?) {
    self.key = key
    isWithheld = false
  }

  private init() {
    key = nil
    isWithheld = true
  }

  /// In place of a key that is not shown.
  package static let withheld = GivenKey()

  /// The key of options that are given again: one that was withheld from them is the one before.
  package func replacing(_ before: GivenKey) -> GivenKey { isWithheld ? before : self }
}

extension GivenKey: CustomStringConvertible, CustomReflectable {
  /// Never the key.
  package var description: String { "GivenKey" }

  /// Never the key.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
