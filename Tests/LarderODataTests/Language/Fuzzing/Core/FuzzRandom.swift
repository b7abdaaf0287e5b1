/// Randomness from a seed (SplitMix64), with the choices that generators make.
struct FuzzRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// From 0 to below a bound.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// True once in so many times.
  mutating func once(in count: Int) -> Bool { below(count) == 0 }

  /// One of several; there must be one.
  mutating func pick<Item>(_ items: [Item]) -> Item { items[below(items.count)] }

  /// So many items, each made anew.
  mutating func several<Item>(_ range: ClosedRange<Int>, _ make: (inout FuzzRandom) -> Item) -> [Item] {
    let count = Int.random(in: range, using: &self)
    return (0..<count).map { _ in make(&self) }
  }
}
