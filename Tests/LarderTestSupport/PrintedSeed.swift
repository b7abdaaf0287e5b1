import Foundation

/// Randomness that a run prints and another can repeat: SplitMix64 from a seed.
///
/// The seed is the environment's `LARDER_SEED` where that is set, else fixed; so runs are alike unless it is set.
/// `LARDER_SEED=random` draws one.
public struct PrintedSeed: RandomNumberGenerator, Sendable {
  /// What the sequence began with.
  public let seed: UInt64
  private var state: UInt64

  /// A generator; prints its seed and the test it is for.
  public init(for test: String, default fixed: UInt64 = 0x1a4d_e4) {
    let requested = ProcessInfo.processInfo.environment["LARDER_SEED"]
    let seed = requested == "random" ? UInt64.random(in: 0 ... .max) : requested.flatMap { UInt64($0) } ?? fixed
    self.init(seed: seed)
    print("\(test): LARDER_SEED=\(seed)")
  }

  /// A generator with this seed; prints nothing.
  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
