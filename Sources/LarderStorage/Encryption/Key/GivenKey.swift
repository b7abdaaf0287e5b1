/// A key among the options of a store: it is passed in, and cannot be read outside of the package.
///
/// The options that an open store returns hold a withheld key: options with one do not open the file.
package struct GivenKey: Sendable {
  /// The key; nil for a plain file, and if it is withheld.
  package let key: StorageKey?
  private let isWithheld: Bool
  /// Whether a key is withheld: a file that is created with these options would be plain, unlike that of the store which
  /// they come from.
  package let isMissing: Bool

  /// Stores a key; nil means that the file is plain.
  package init(_ key: StorageKey?) {
    self.key = key
    (isWithheld, isMissing) = (false, false)
  }

  private init(withholding given: GivenKey) {
    key = nil
    isWithheld = true
    isMissing = given.key != nil || given.isMissing
  }

  /// The placeholder for this key, which is not shown.
  package var withheld: GivenKey { GivenKey(withholding: self) }

  /// The key to use when options are set again: if it is withheld, the previous one.
  package func replacing(_ before: GivenKey) -> GivenKey { isWithheld ? before : self }
}

extension GivenKey: CustomStringConvertible, CustomReflectable {
  /// A fixed text, never the key.
  package var description: String { "GivenKey" }

  /// An empty mirror, never the key.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
