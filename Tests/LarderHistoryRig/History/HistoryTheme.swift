import LarderTestSupport

/// What a history is mostly about: faults that hide behind others are found sooner where steps and services fit.
package enum HistoryTheme: String, Sendable, CaseIterable {
  case everything, creations, batches, deltas, schedules, media, links, undone, conflicts, transactions, deepInserts
  case foreign, singletons, deletions, updates

  /// The themes of histories from consecutive seeds. Those whose faults need more to come together have several turns.
  static let turns: [HistoryTheme] = [
    .everything, .creations, .batches, .updates, .deltas, .creations, .schedules, .transactions, .media, .creations,
    .links, .deletions, .updates, .creations, .undone, .conflicts, .batches, .creations, .deepInserts, .transactions,
    .foreign, .updates, .singletons,
  ]

  /// Makes the service one that the theme is about.
  func tune(_ kind: inout ModelKind, using random: inout PrintedSeed) {
    func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
    switch self {
    case .everything, .schedules: break
    case .creations:
      (kind.givesKeys, kind.hasPlaces, kind.hasLinks) = (chance(80), chance(50), chance(50))
      kind.texts = chance(70) ? .unchanged : .truncated
    case .batches:
      (kind.givesKeys, kind.continues) = (true, true)
      if !kind.isV2 { kind.hasActions = chance(60) }
    case .deltas:
      (kind.isV2, kind.deltas, kind.layout, kind.pageSize) = (false, .expanded, chance(70) ? .expanded : .both, nil)
    case .media: kind.hasMedia = true
    case .links: (kind.hasLinks, kind.hasETags) = (true, true)
    case .undone: kind.rollsBack = true
    case .conflicts: (kind.hasETags, kind.texts) = (true, .unchanged)
    case .transactions: (kind.rollsBack, kind.respondsToEach) = (chance(60), chance(80))
    case .updates:
      (kind.hasETags, kind.hasLinks, kind.hidesLinks, kind.texts) = (chance(25), chance(70), chance(85), .unchanged)
    case .deletions: kind.hasETags = chance(15)
    case .deepInserts: kind.insertion = chance(70) ? .withoutChildren : .noContent
    case .foreign: if chance(80) { kind.deltas = .none }
    case .singletons: (kind.isV2, kind.hasSingleton, kind.namesTypeInContext) = (false, true, chance(80))
    }
    if kind.isV2 { (kind.isV401, kind.deltas, kind.hasSingleton, kind.hasActions) = (false, .none, false, false) }
    if kind.rollsBack { kind.respondsToEach = false }
  }

  /// How often steps of each kind come.
  func weights(_ kind: ModelKind) -> [(kind: HistoryStep.Kind, weight: Int)] {
    switch self {
    case .everything: everyWeight(kind)
    case .creations:
      [(.create, 6), (.createDeep, 4), (.twins, 4), (.update, 2), (.writer, 6), (.upload, 20), (.download, 3)]
    case .batches:
      [(.create, 10), (.createDeep, 3), (.update, 8), (.transaction, 2), (.upload, 8), (.writer, 1)]
        + (kind.hasActions ? [(.action, 10)] : [])
    case .deltas:
      [(.createDeep, 4), (.delete, 5), (.update, 3), (.upload, 6), (.download, 10), (.writer, 16)]
    case .schedules: [(.burst, 12), (.create, 4), (.update, 4), (.upload, 6)]
    case .media:
      [(.media, 12), (.createMedia, 5), (.create, 6), (.upload, 12), (.download, 4), (.writer, 6), (.resolve, 3)]
    case .links: [(.link, 16), (.create, 3), (.upload, 14), (.download, 4), (.writer, 12), (.resolve, 3)]
    case .undone:
      [(.update, 10), (.create, 8), (.delete, 4), (.upload, 12), (.undo, 12), (.writer, 2), (.transaction, 4)]
    case .conflicts: [(.update, 12), (.upload, 20), (.writer, 8), (.delete, 1), (.resolve, 3), (.download, 2)]
    case .transactions: [(.transaction, 14), (.upload, 10), (.writer, 8), (.resolve, 6), (.update, 4), (.undo, 2)]
    case .deepInserts: [(.createDeep, 14), (.upload, 12), (.update, 3), (.download, 2), (.transaction, 2)]
    case .foreign: [(.create, 4), (.writer, 8), (.download, 16), (.upload, 4), (.update, 3)]
    case .singletons: [(.download, 8), (.update, 3), (.upload, 3), (.writer, 4)]
    case .updates: [(.update, 10), (.upload, 20), (.writer, 3), (.download, 4), (.resolve, 3), (.create, 1)]
    case .deletions: [(.delete, 6), (.upload, 16), (.writer, 6), (.create, 4), (.download, 6), (.resolve, 2)]
    }
  }

  private func everyWeight(_ kind: ModelKind) -> [(kind: HistoryStep.Kind, weight: Int)] {
    var all: [(kind: HistoryStep.Kind, weight: Int)] = [
      (.create, 9), (.createDeep, 5), (.update, 14), (.delete, 5), (.transaction, 7), (.burst, 2), (.undo, 4),
      (.resolve, 4), (.upload, 20), (.download, 12), (.reopen, 1), (.crash, 2), (.writer, 14),
    ]
    if kind.hasLinks { all.append((.link, 9)) }
    if kind.hasMedia { all += [(.media, 9), (.createMedia, 5)] }
    if kind.hasActions { all.append((.action, 6)) }
    return all
  }

  /// The changes that an upload finds pending at least, and of which kinds they are.
  func leastPending(_ kind: ModelKind) -> (count: Int, kinds: [HistoryStep.Kind]) {
    switch self {
    case .creations: (1, [.create, .create, .createDeep, .twins])
    case .batches: (3, [.create, .create, .update] + (kind.hasActions ? [.action, .action] : []))
    case .media: (1, [.media, .media, .createMedia])
    case .links: (1, [.link])
    case .undone: (1, [.update, .create, .createDeep, .delete])
    case .conflicts, .updates: (1, [.update])
    case .deletions: (1, [.delete])
    case .transactions: (2, [.transaction])
    case .deepInserts: (1, [.createDeep])
    case .everything, .deltas, .schedules, .foreign, .singletons: (0, [])
    }
  }

  /// What goes wrong with an upload, and how often of a hundred times.
  func uploadFault(using random: inout PrintedSeed) -> (fault: Fault, percent: Int) {
    switch self {
    case .creations, .updates, .deletions: (Fault.ofLostResponse(using: &random), 80)
    case .undone, .conflicts, .links, .media: (Fault.ofLostResponse(using: &random), 65)
    case .batches:
      (random.next() % 2 == 0 ? Fault.ofMissingPart(using: &random) : Fault.ofBatch(using: &random), 85)
    case .deltas, .schedules, .singletons, .deepInserts: (Fault.ofUpload(using: &random), 15)
    case .transactions:
      (random.next() % 2 == 0 ? Fault.ofChangeSet(using: &random) : Fault.ofUpload(using: &random), 60)
    case .everything, .foreign: (Fault.ofUpload(using: &random), 50)
    }
  }

  /// What goes wrong with a download, and how often of a hundred times.
  func downloadFault(using random: inout PrintedSeed) -> (fault: Fault, percent: Int) {
    guard self != .foreign else { return (Fault.ofForeignResponse(using: &random), 85) }
    return (Fault.ofDownload(using: &random), self == .everything ? 30 : 10)
  }
}
