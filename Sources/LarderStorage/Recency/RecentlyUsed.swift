/// Entries by key, in the order of their last use, with the sum of their costs. Every operation takes constant time.
///
/// The order is a linked list of indexes into an array, so that a use changes numbers and allocates nothing.
///
/// The type is inlinable so that it is specialized for the types of the modules that use it, which makes a use several
/// times faster. It is public, for the package's modules only, because the compiler (6.3) does not specialize `package`
/// types, inlinable or not.
@_spi(Stores)
public struct RecentlyUsed<Key: Hashable, Entry> {
  @usableFromInline
  struct Slot {
    @usableFromInline var key: Key?
    /// Nil if the slot is free; `older` is then the index of the next free slot.
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
  // The index of the first free slot; -1 for none.
  @usableFromInline var free = -1
  @usableFromInline var newest = -1
  @usableFromInline var oldest = -1
  @usableFromInline var sum = 0

  /// Creates an empty collection.
  @inlinable
  public init() {}

  /// The sum of the costs of all entries.
  @inlinable public var total: Int { sum }

  /// The number of entries.
  @inlinable public var count: Int { places.count }

  /// The entry for a key, which becomes the most recently used one.
  @inlinable
  public mutating func use(_ key: Key) -> Entry? {
    guard let place = places[key] else { return nil }
    moveToNewest(place)
    return slots[place].entry
  }

  /// Changes the entry for a key in place and makes it the most recently used one; nil if there is none.
  @inlinable @discardableResult
  public mutating func use<Result>(_ key: Key, _ body: (inout Entry?) -> Result) -> Result? {
    guard let place = places[key] else { return nil }
    moveToNewest(place)
    return body(&slots[place].entry)
  }

  /// The entry for a key; does not change the order.
  @inlinable
  public func peek(_ key: Key) -> Entry? { places[key].flatMap { slots[$0].entry } }

  /// Changes the entry for a key in place; does not change the order.
  @inlinable @discardableResult
  public mutating func change<Result>(_ key: Key, _ body: (inout Entry?) -> Result) -> Result? {
    guard let place = places[key] else { return nil }
    return body(&slots[place].entry)
  }

  /// Stores an entry for a key as the most recently used one; returns the entry that it replaced.
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

  /// Removes the entry for a key.
  @inlinable
  public mutating func remove(_ key: Key) -> Entry? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    return takeOut(place)
  }

  /// Removes the least recently used entry.
  @inlinable
  public mutating func removeOldest() -> Entry? {
    guard oldest >= 0 else { return nil }
    if let key = slots[oldest].key { places[key] = nil }
    return takeOut(oldest)
  }

  /// The keys, the most recently used first.
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
