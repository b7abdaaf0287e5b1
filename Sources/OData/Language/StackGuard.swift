/// How much of the stack recursion has taken since it began. A level's cost depends on what stands there, and in debug builds it is
/// several times as much, so that a count of levels alone does not keep a thread safe.
struct StackGuard {
  /// The most that recursion may take, in bytes: threads other than the first have 512 kB on some platforms, of which callers
  /// need some, and one level up to 40 kB.
  private static let most = 352 << 10

  private let start = StackGuard.place()

  /// Whether nothing deeper may be begun.
  var isSpent: Bool { abs(StackGuard.place() - start) >= StackGuard.most }

  /// About where the stack stands.
  @inline(never)
  private static func place() -> Int {
    var marker: UInt8 = 0
    return withUnsafeMutablePointer(to: &marker) { Int(bitPattern: $0) }
  }
}
