/// Which values are meant, and in which order.
///
/// All comparisons are by UTF-8 bytes. With a range of labels, values come in order of their labels and, for one label,
/// of their keys; a value with several labels in the range comes once, at the first of them in the order asked for.
/// Otherwise they come in order of their keys.
public struct ObjectSelection: Sendable, Hashable {
  /// A range of texts.
  struct Bounds: Sendable, Hashable {
    /// The first text; empty for no bound.
    var lower = ""
    /// The text where it ends; nil for no bound.
    var upper: String?
    /// Whether that text is still meant.
    var includesUpper = false

    static let all = Bounds()

    static func one(_ text: String) -> Bounds { Bounds(lower: text, upper: text, includesUpper: true) }

    /// The texts that begin with one: up to the first text after all of them, which ends in the next scalar.
    static func prefix(_ prefix: String) -> Bounds {
      var scalars = Array(prefix.unicodeScalars)
      while let last = scalars.popLast() {
        // Surrogates are no scalars; nothing follows the last one.
        let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
        guard let scalar = Unicode.Scalar(next) else { continue }
        scalars.append(scalar)
        var upper = String.UnicodeScalarView()
        upper.append(contentsOf: scalars)
        return Bounds(lower: prefix, upper: String(upper))
      }
      return Bounds(lower: prefix)
    }

    func contains(_ key: ObjectKey) -> Bool {
      if key < ObjectKey(stored: lower) { return false }
      guard let upper else { return true }
      let end = ObjectKey(stored: upper)
      return key < end || (includesUpper && key == end)
    }

    /// True where it means one text.
    var isOne: Bool { includesUpper && upper.map { ObjectKey(stored: $0) == ObjectKey(stored: lower) } ?? false }
  }

  /// Nil where labels do not matter.
  var labels: Bounds?
  var keys = Bounds.all
  var isDescending = false

  /// Every value.
  public static let all = ObjectSelection()

  /// The values with a label.
  public static func label(_ label: String) -> ObjectSelection { ObjectSelection(labels: .one(label)) }

  /// The values with a label that begins so.
  public static func labels(prefix: String) -> ObjectSelection { ObjectSelection(labels: .prefix(prefix)) }

  /// The values with a label from one on, up to another that is not meant any more; nil for no bound.
  public static func labels(from lower: String? = nil, upTo upper: String? = nil) -> ObjectSelection {
    ObjectSelection(labels: Bounds(lower: lower ?? "", upper: upper))
  }

  /// The values with a label from one on, up to another that is meant too.
  public static func labels(from lower: String? = nil, through upper: String) -> ObjectSelection {
    ObjectSelection(labels: Bounds(lower: lower ?? "", upper: upper, includesUpper: true))
  }

  /// The values whose key begins so.
  public static func keys(prefix: String) -> ObjectSelection { all.keys(prefix: prefix) }

  /// The values with a key from one on, up to another that is not meant any more; nil for no bound.
  public static func keys(from lower: String? = nil, upTo upper: String? = nil) -> ObjectSelection {
    all.keys(from: lower, upTo: upper)
  }

  /// The values with a key from one on, up to another that is meant too.
  public static func keys(from lower: String? = nil, through upper: String) -> ObjectSelection {
    all.keys(from: lower, through: upper)
  }

  /// Of these, the values whose key begins so.
  public func keys(prefix: String) -> ObjectSelection { with(.prefix(prefix)) }

  /// Of these, the values with a key from one on, up to another that is not meant any more; nil for no bound.
  public func keys(from lower: String? = nil, upTo upper: String? = nil) -> ObjectSelection {
    with(Bounds(lower: lower ?? "", upper: upper))
  }

  /// Of these, the values with a key from one on, up to another that is meant too.
  public func keys(from lower: String? = nil, through upper: String) -> ObjectSelection {
    with(Bounds(lower: lower ?? "", upper: upper, includesUpper: true))
  }

  /// The same in the opposite order.
  public var reversed: ObjectSelection {
    var other = self
    other.isDescending.toggle()
    return other
  }

  private func with(_ keys: Bounds) -> ObjectSelection {
    var other = self
    other.keys = keys
    return other
  }
}
