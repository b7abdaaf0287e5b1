/// Entries by key, in the order of their last use, with the sum of what they cost: every step takes constant time.
///
/// The order is a list linked by places in an array, so that a use moves numbers and allocates nothing.
struct RecentEntries {
  private struct Slot {
    var key: String
    /// Nil where the slot is free; `older` then leads to the next free one.
    var entry: CacheEntry?
    var cost: Int
    var newer: Int
    var older: Int
  }

  private static let none = -1

  private var places: [String: Int] = [:]
  private var slots: [Slot] = []
  private var free = RecentEntries.none
  private var newest = RecentEntries.none
  private var oldest = RecentEntries.none

  /// What all entries cost together.
  private(set) var total = 0

  /// How many entries there are.
  var count: Int { places.count }

  /// The entry under a key, which thereby becomes the one used last.
  mutating func use(_ key: String) -> CacheEntry? {
    guard let place = places[key] else { return nil }
    if place != newest {
      unlink(place)
      linkNewest(place)
    }
    return slots[place].entry
  }

  /// The entry under a key; the order stays.
  func peek(_ key: String) -> CacheEntry? { places[key].flatMap { slots[$0].entry } }

  /// Puts an entry under a key as the one used last; answers the one that was there.
  mutating func set(_ entry: CacheEntry, cost: Int, for key: String) -> CacheEntry? {
    total += cost
    if let place = places[key] {
      let old = slots[place].entry
      total -= slots[place].cost
      slots[place].entry = entry
      slots[place].cost = cost
      if place != newest {
        unlink(place)
        linkNewest(place)
      }
      return old
    }
    let place = freeSlot()
    slots[place] = Slot(key: key, entry: entry, cost: cost, newer: RecentEntries.none, older: RecentEntries.none)
    places[key] = place
    linkNewest(place)
    return nil
  }

  /// Takes out the entry under a key.
  mutating func remove(_ key: String) -> CacheEntry? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    return takeOut(place)
  }

  /// Takes out the entry that was not used for longest.
  mutating func removeOldest() -> CacheEntry? {
    guard oldest != RecentEntries.none else { return nil }
    places[slots[oldest].key] = nil
    return takeOut(oldest)
  }

  /// The keys, the one used last first.
  var keys: [String] {
    var keys: [String] = []
    var place = newest
    while place != RecentEntries.none {
      keys.append(slots[place].key)
      place = slots[place].older
    }
    return keys
  }

  // MARK: The list

  private mutating func takeOut(_ place: Int) -> CacheEntry? {
    unlink(place)
    total -= slots[place].cost
    let entry = slots[place].entry
    slots[place] = Slot(key: "", entry: nil, cost: 0, newer: RecentEntries.none, older: free)
    free = place
    return entry
  }

  private mutating func freeSlot() -> Int {
    guard free != RecentEntries.none else {
      slots.append(Slot(key: "", entry: nil, cost: 0, newer: RecentEntries.none, older: RecentEntries.none))
      return slots.count - 1
    }
    let place = free
    free = slots[place].older
    return place
  }

  private mutating func unlink(_ place: Int) {
    let (newer, older) = (slots[place].newer, slots[place].older)
    if newer == RecentEntries.none { newest = older } else { slots[newer].older = older }
    if older == RecentEntries.none { oldest = newer } else { slots[older].newer = newer }
  }

  private mutating func linkNewest(_ place: Int) {
    slots[place].newer = RecentEntries.none
    slots[place].older = newest
    if newest == RecentEntries.none { oldest = place } else { slots[newest].newer = place }
    newest = place
  }
}
