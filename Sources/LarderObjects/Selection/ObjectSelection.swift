/// Selects values and their order.
///
/// All comparisons are by UTF-8 bytes. With a range of labels, values are ordered by their labels and, for one label,
/// by their keys. A value with several labels in the range appears once, at the first of them in the requested order.
/// Without labels, values are ordered by their keys.
public struct ObjectSelection: Sendable, Hashable {
  /// A range of texts.
  struct Bounds: Sendable, Hashable {
    /// The first text; empty for no bound.
    var lower = ""
    /// The end of the range; nil for no bound.
    var upper: String?
    /// Whether the range includes its end.
    var includesUpper = false

    static let all = Bounds()

    static func one(_ text: String) -> Bounds { Bounds(lower: text, upper: text, includesUpper: true) }

    /// The texts with a prefix: up to the first text after all of them, which is the prefix with its last scalar
    /// replaced by the next one.
    static func prefix(_ prefix: String) -> Bounds {
      var scalars = Array(prefix.unicodeScalars)
      while let last = scalars.popLast() {
        // Surrogates are not scalars, and the last scalar has no successor.
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

    /// True if the range contains exactly one text.
    var isOne: Bool { includesUpper && upper.map { ObjectKey(stored: $0) == ObjectKey(stored: lower) } ?? false }
  }

  /// Nil if the selection does not depend on labels.
  var labels: Bounds?
  var keys = Bounds.all
  var isDescending = false

  /// Every value.
  public static let all = ObjectSelection()

  /// The values with a label.
  public static func label(_ label: String) -> ObjectSelection { ObjectSelection(labels: .one(label)) }

  /// The values with a label that has a prefix.
  public static func labels(prefix: String) -> ObjectSelection { ObjectSelection(labels: .prefix(prefix)) }

  /// The values with a label from `lower` up to, but not including, `upper`; nil for no bound.
  public static func labels(from lower: String? = nil, upTo upper: String? = nil) -> ObjectSelection {
    ObjectSelection(labels: Bounds(lower: lower ?? "", upper: upper))
  }

  /// The values with a label from `lower` through `upper`, which is included.
  public static func labels(from lower: String? = nil, through upper: String) -> ObjectSelection {
    ObjectSelection(labels: Bounds(lower: lower ?? "", upper: upper, includesUpper: true))
  }

  /// The values whose key has a prefix.
  public static func keys(prefix: String) -> ObjectSelection { all.keys(prefix: prefix) }

  /// The values with a key from `lower` up to, but not including, `upper`; nil for no bound.
  public static func keys(from lower: String? = nil, upTo upper: String? = nil) -> ObjectSelection {
    all.keys(from: lower, upTo: upper)
  }

  /// The values with a key from `lower` through `upper`, which is included.
  public static func keys(from lower: String? = nil, through upper: String) -> ObjectSelection {
    all.keys(from: lower, through: upper)
  }

  /// This selection, restricted to values whose key has a prefix.
  public func keys(prefix: String) -> ObjectSelection { with(.prefix(prefix)) }

  /// This selection, restricted to values with a key from `lower` up to, but not including, `upper`; nil for no bound.
  public func keys(from lower: String? = nil, upTo upper: String? = nil) -> ObjectSelection {
    with(Bounds(lower: lower ?? "", upper: upper))
  }

  /// This selection, restricted to values with a key from `lower` through `upper`, which is included.
  public func keys(from lower: String? = nil, through upper: String) -> ObjectSelection {
    with(Bounds(lower: lower ?? "", upper: upper, includesUpper: true))
  }

  /// This selection in the opposite order.
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
