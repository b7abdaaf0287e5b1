/// Entries by key, in the order of their last use, with the sum of what they cost: every step takes constant time.
///
/// The order is a list linked by places in an array, so that a use moves numbers and allocates nothing.
///
/// It is inlinable for one reason: only so is it compiled for the types of the modules that use it, which makes a use several
/// times quicker. And it is public, for the package's modules alone, because the compiler (6.3) does not do so for what is
/// `package`, inlinable or not.
@_spi(Stores)
public struct RecentlyUsed<Key: Hashable, Entry> {
  @usableFromInline
  struct Slot {
    @usableFromInline var key: Key?
    /// Nil where the slot is free; `older` then leads to the next free one.
    @usableFromInline var entry: Entry?
    @usableFromInline var cost = 0
    @usableFromInline var newer = -1
    @usableFromInline var older = -1

    @inlinable
    init(_ key: Key?, _ entry: Entry?, cost: Int = 0, older: Int = -1) {
      self.key = key
      self.entry = entry
      self.cost = cost
      self.older = older
    }
  }

  @usableFromInline var places: [Key: Int] = [:]
  @usableFromInline var slots: [Slot] = []
  // -1 stands for none.
  @usableFromInline var free = -1
  @usableFromInline var newest = -1
  @usableFromInline var oldest = -1
  @usableFromInline var sum = 0

  /// None yet.
  @inlinable
  public init() {}

  /// What all entries cost together.
  @inlinable public var total: Int { sum }

  /// How many entries there are.
  @inlinable public var count: Int { places.count }

  /// The entry under a key, which thereby becomes the one used last.
  @inlinable
  public mutating func use(_ key: Key) -> Entry? {
    guard let place = places[key] else { return nil }
    moveToNewest(place)
    return slots[place].entry
  }

  /// Changes the entry under a key in place, which thereby becomes the one used last; nil where there is none.
  @inlinable @discardableResult
  public mutating func use<Result>(_ key: Key, _ body: (inout Entry?) -> Result) -> Result? {
    guard let place = places[key] else { return nil }
    moveToNewest(place)
    return body(&slots[place].entry)
  }

  /// The entry under a key; the order stays.
  @inlinable
  public func peek(_ key: Key) -> Entry? { places[key].flatMap { slots[$0].entry } }

  /// Changes the entry under a key in place; the order stays.
  @inlinable @discardableResult
  public mutating func change<Result>(_ key: Key, _ body: (inout Entry?) -> Result) -> Result? {
    guard let place = places[key] else { return nil }
    return body(&slots[place].entry)
  }

  /// Puts an entry under a key as the one used last; answers the one that was there.
  @inlinable
  public mutating func set(_ entry: Entry, cost: Int, for key: Key) -> Entry? {
    sum += cost
    if let place = places[key] {
      let old = slots[place].entry
      sum -= slots[place].cost
      slots[place].entry = entry
      slots[place].cost = cost
      moveToNewest(place)
      return old
    }
    let place = freeSlot()
    slots[place] = Slot(key, entry, cost: cost)
    places[key] = place
    linkNewest(place)
    return nil
  }

  /// Takes out the entry under a key.
  @inlinable
  public mutating func remove(_ key: Key) -> Entry? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    return takeOut(place)
  }

  /// Takes out the entry that was not used for longest.
  @inlinable
  public mutating func removeOldest() -> Entry? {
    guard oldest >= 0 else { return nil }
    if let key = slots[oldest].key { places[key] = nil }
    return takeOut(oldest)
  }

  /// The keys, the one used last first.
  public var keys: [Key] {
    var keys: [Key] = []
    var place = newest
    while place >= 0 {
      if let key = slots[place].key { keys.append(key) }
      place = slots[place].older
    }
    return keys
  }

  // MARK: The list

  @inlinable
  mutating func takeOut(_ place: Int) -> Entry? {
    unlink(place)
    sum -= slots[place].cost
    let entry = slots[place].entry
    slots[place] = Slot(nil, nil, older: free)
    free = place
    return entry
  }

  @inlinable
  mutating func freeSlot() -> Int {
    guard free >= 0 else {
      slots.append(Slot(nil, nil))
      return slots.count - 1
    }
    let place = free
    free = slots[place].older
    return place
  }

  @inlinable
  mutating func moveToNewest(_ place: Int) {
    guard place != newest else { return }
    unlink(place)
    linkNewest(place)
  }

  @inlinable
  mutating func unlink(_ place: Int) {
    let (newer, older) = (slots[place].newer, slots[place].older)
    if newer < 0 { newest = older } else { slots[newer].older = older }
    if older < 0 { oldest = newer } else { slots[older].newer = newer }
  }

  @inlinable
  mutating func linkNewest(_ place: Int) {
    slots[place].newer = -1
    slots[place].older = newest
    if newest < 0 { oldest = place } else { slots[newest].newer = place }
    newest = place
  }
}

extension RecentlyUsed: Sendable where Key: Sendable, Entry: Sendable {}
extension RecentlyUsed.Slot: Sendable where Key: Sendable, Entry: Sendable {}
