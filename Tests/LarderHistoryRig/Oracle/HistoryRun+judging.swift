import LarderOData

// What became of each change, judged by the service's own list of effects.
extension HistoryRun {
  // MARK: When it happens

  /// A change that goes to the archive because it was rejected has not taken effect.
  func judgeArchived(_ change: Change, _ entry: StoreHand.Waiting) {
    let service = model.service
    let done = service.effects.filter { $0.mark == change.mark }
    let makesByServiceKey =
      [.create, .createDeep].contains(change.operation) && plan.kind.givesKeys && change.set != "Tags"
    let isNeverConflict = makesByServiceKey || change.operation == .action || change.operation == .createMedia
    let isRejected = entry.isHeld || entry.reason == "Rejected" || entry.reason == "Conflict" && isNeverConflict
    // A change that mends another one may come once more behind it.
    // A response to each says which requests of a change set are done.
    let isTold = plan.kind.respondsToEach && entry.reason == "Rejected" && !entry.isHeld
    if isRejected, !done.isEmpty, change.mends == nil, !isHidden(change),
      plan.kind.rollsBack || change.transaction == nil || isTold
    {
      find(
        .rejectedThoughDone, item: itemOfRepetition(change),
        "\(change.mark) (\(change.operation)) is in the archive as \(entry.reason ?? "") \(entry.status ?? 0)",
        isKnowable: !areObscured(done, change, before: service.effects.count))
    }
    // After a 5xx, nothing is looked up before a retry.
    let isLookedUp = entry.status.map { $0 < 500 } ?? true
    if entry.reason == "UnknownOutcome", isLookedUp, !readsMayFail, isShown(change, done) {
      find(.unclearThoughShown, item: 1, "\(change.mark) (\(change.operation) at \(change.store))")
    }
    // Where a change set is said to be done in part, a look-up decides, from which another client's change hides it.
    if entry.reason == "UnknownOutcome", isLookedUp, reported.contains(change.mark), !isTouched(done) {
      find(.unclearThoughShown, item: 2, "\(change.mark) (\(change.operation) at \(change.store)): its response came")
    }
    guard let name = name(of: change.target, service), let entity = service.entities[name] else { return }
    if change.operation == .media, service.kind.streamETags != .none, change.seen["$value"] == entity.bytesETag,
      entry.status == 428 || entry.reason == "Conflict"
    {
      find(
        .conditionMissing, item: 6, "\(change.mark): the stream's ETag \(entity.bytesETag) is known and was not sent")
    }
    let isSingleLink = change.seen["Buyer"] != nil
    // One that a fault has made up says nothing of what was sent.
    let isMadeUp = change.faults.contains { fault in
      switch fault {
      case .status(428), .part(_, status: 428): true
      default: false
      }
    }
    if entry.status == 428, !isMadeUp, service.kind.hasETags, change.operation != .media {
      find(.conditionMissing, item: isSingleLink ? 7 : nil, "\(change.mark) (\(change.operation)): 428")
    }
  }

  /// Whether the service has what a creation made, as it was sent, and nobody has touched it since.
  private func isShown(_ change: Change, _ done: [ModelService.Effect]) -> Bool {
    guard change.operation == .create || change.operation == .createDeep, change.transaction == nil, change.twin == nil,
      change.mends == nil, plan.kind.texts == .unchanged, done.count == 1, let created = done.first
    else { return false }
    return !isTouched(done) && ([created.entity] + created.children).allSatisfy { model.service.entities[$0] != nil }
  }

  /// Whether anybody has changed the entities of effects since.
  private func isTouched(_ done: [ModelService.Effect]) -> Bool {
    done.contains { effect in
      let names = [effect.entity] + effect.children
      return model.service.effects.dropFirst(effect.number + 1).contains { names.contains($0.entity) }
    }
  }

  /// Whether a response to a batch with the change lacked parts, or had them elsewhere.
  private func hasPartFault(_ change: Change) -> Bool {
    change.faults.contains { fault in
      switch fault {
      case .part, .partMissing, .partsSwapped, .partTwice, .memberMissing, .idMissing, .idRepeated: true
      default: false
      }
    }
  }

  /// The changes of a transaction are all in the queue, all in the archive, or in neither.
  func judgeTransactions(
    _ store: StoreHand, _ queue: Set<String>, _ archive: Set<String>, unclear: Set<String>
  ) {
    let own = changes.filter { $0.store == store.name && $0.transaction != nil }
    for (first, members) in Dictionary(grouping: own, by: \.transaction).sorted(by: { ($0.key ?? 0) < ($1.key ?? 0) }) {
      // A change of unknown outcome is in the archive, though others of its transaction took effect.
      let members = members.filter { !unclear.contains(sentMark(of: $0)) && !isSentTwice($0) && !isUntold($0) }
      let queued = members.filter { queue.contains(sentMark(of: $0)) }.map(\.mark)
      let archived = members.filter { archive.contains(sentMark(of: $0)) }.map(\.mark)
      let isTorn =
        !queued.isEmpty && !archived.isEmpty
        || !queued.isEmpty && queued.count < members.count && plan.kind.rollsBack
      let isPartlyArchived = !archived.isEmpty && archived.count < members.count && plan.kind.rollsBack
      guard isTorn || isPartlyArchived else { continue }
      find(
        .torn, item: 10,
        "the transaction of \(members.map(\.mark)) at \(store.name), begun by m\(first ?? 0): queued \(queued), archived \(archived)"
      )
    }
  }

  /// The mark of the change that is sent in place of another one of the archive, and mends it; else its own.
  private func sentMark(of change: Change) -> String {
    changes.last { $0.mends == change.number }.map(sentMark) ?? change.mark
  }

  /// Whether a change took effect, and the response to it was missing beside those to others of its transaction: a look-up
  /// that cannot tell leaves it alone in the archive.
  private func isUntold(_ change: Change) -> Bool {
    hasPartFault(change) && model.service.effects.contains { $0.mark == change.mark }
  }

  /// Whether a change is sent in place of another one and once more, behind what its store has changed between the two: see
  /// ``isRepair(_:_:)``.
  private func isSentTwice(_ change: Change) -> Bool {
    guard let other = changes.last(where: { $0.mends == change.number }) else { return false }
    let service = model.service
    let entity = name(of: change.target, service)
    return changes[(change.number + 1)..<other.number].contains { between in
      between.store == change.store && name(of: between.target, service) == entity
    }
  }

  // MARK: At the end

  func judgeEffects() {
    let service = model.service
    let byMark = Dictionary(grouping: service.effects.filter { $0.actor != SecondWriter.name }) { $0.mark ?? "" }
    for effect in byMark[""] ?? [] {
      find(.unasked, item: nil, "\(effect.actor) did \(effect.kind) of \(effect.entity) without a change")
    }
    for change in changes {
      let effects = byMark[change.mark] ?? []
      judgeKinds(change, effects)
      judgeCount(change, effects)
      judgeTarget(change, effects, service)
      judgeFate(change, effects, service)
      judgeOverwriting(change, effects)
      judgeValues(change, effects, service)
    }
    judgeOrder(byMark, service)
  }

  private func judgeKinds(_ change: Change, _ effects: [ModelService.Effect]) {
    var allowed = kinds(of: change)
    if let mended = change.mends { allowed.formUnion(kinds(of: changes[mended])) }
    for effect in effects where !allowed.contains(effect.kind) {
      find(.unasked, item: nil, "\(change.mark) (\(change.operation)) did \(effect.kind) of \(effect.entity)")
    }
  }

  private func kinds(of change: Change) -> Set<ModelService.Effect.Kind> {
    switch change.operation {
    case .create, .createDeep: change.set == "Photos" ? [.create, .update, .media] : [.create]
    case .createMedia: [.create]
    case .update: [.update]
    case .delete: [.delete]
    case .link: [.link, .update]
    case .unlink: [.unlink, .update]
    case .media: [.media]
    case .action: [.action]
    }
  }

  private func judgeCount(_ change: Change, _ effects: [ModelService.Effect]) {
    let isSeen = wasSeen(change, effects)
    let changed = effects.filter { $0.isChange && (isSeen || isDetectable($0, change)) }
    for (kind, all) in Dictionary(grouping: changed, by: \.kind)
    where all.count > 1 && (isSeen || !isMadeAgain(all, change)) && !isRepair(all, change) && !isHiddenLink(all, change)
      && !isOfTwin(all, change)
    {
      find(
        .twice, item: itemOfRepetition(change),
        "\(change.mark) (\(change.operation) at \(change.store)): \(all.count) times \(kind) of \(all.map(\.entity))",
        isKnowable: isSeen || kind != .create || !isUnavoidable(all, change, effects))
    }
  }

  /// Whether a creation was sent again, each time when nothing that its store could read showed that it was done.
  private func isUnavoidable(_ repeated: [ModelService.Effect], _ change: Change, _ all: [ModelService.Effect]) -> Bool
  {
    repeated.dropFirst().allSatisfy { repetition in
      areObscured(all.filter { $0.kind == .create && $0.number < repetition.number }, change, before: repetition.number)
    }
  }

  /// Whether creations happened although no response says so, and before an effect with a number another client deleted
  /// the entities, or wrote over all texts that were sent for them, with no download between. If a service denies what
  /// it did and stores texts in other forms, an entity may as well be another client's, unless it has all these texts.
  private func areObscured(_ creations: [ModelService.Effect], _ change: Change, before end: Int) -> Bool {
    let texts = change.texts.filter { !change.childTexts.contains($0) }
    return creations.allSatisfy { creation in
      guard creation.kind == .create, creation.isLost || creation.isDenied else { return false }
      let left = left(of: creation, before: end)
      if creation.isDenied, plan.kind.texts != .unchanged, !texts.allSatisfy(left.contains) { return true }
      let names = [creation.entity] + creation.children
      return !shows(left, texts)
        && model.service.effects[creation.number..<end].contains { later in
          guard later.actor != creation.actor, names.contains(later.entity), !wasDownloaded(creation, before: later)
          else {
            return false
          }
          let sent = model.service.entities[later.entity]?.sent
          return later.kind == .delete
            || later.overwritten.contains { $1.writer == creation.actor && sent?.contains($0) ?? true }
        }
    }
  }

  /// What is left of the entities of a creation before an effect with a number, as text.
  private func left(of creation: ModelService.Effect, before end: Int) -> String {
    let service = model.service
    if service.effects.indices.contains(end) { return service.effects[end].left[creation.entity] ?? "" }
    return service.text(of: creation)
  }

  /// Whether the store that made an entity has downloaded it before another effect.
  private func wasDownloaded(_ creation: ModelService.Effect, before later: ModelService.Effect) -> Bool {
    sightings.contains {
      $0.store == creation.actor && creation.number < $0.number && $0.number <= later.number
        && $0.entities[creation.entity] != nil
    }
  }

  /// Whether an update was sent in place of one of the archive that it mends, and once more behind the changes of its store
  /// that lie between, so that the last value stays the last.
  private func isRepair(_ effects: [ModelService.Effect], _ change: Change) -> Bool {
    guard change.mends != nil, effects.count == 2, effects.allSatisfy({ $0.kind == .update }) else { return false }
    return model.service.effects[effects[0].number..<effects[1].number].dropFirst().contains {
      $0.entity == effects[0].entity && $0.actor == change.store
    }
  }

  /// Whether a download has brought what a creation made, as it was sent, before another client deleted it, and no other
  /// download came between that and a second creation: the store knows that it was done.
  private func wasSeen(_ change: Change, _ effects: [ModelService.Effect]) -> Bool {
    let created = effects.filter { $0.kind == .create }
    guard created.count == 2, change.operation == .create || change.operation == .createDeep else { return false }
    let deletion = model.service.effects[created[0].number..<created[1].number].first {
      $0.kind == .delete && $0.entity == created[0].entity && $0.actor != change.store
    }
    let own = sightings.filter {
      $0.store == change.store && created[0].number < $0.number && $0.number <= created[1].number
    }
    guard let deletion, let last = own.last, last.number <= deletion.number, let seen = last.entities[created[0].entity]
    else { return false }
    return isAsMade(seen, change)
  }

  /// Whether an update that sets a link alone was sent again, each time when nothing showed that others had set the link
  /// since the time before.
  private func isHiddenLink(_ effects: [ModelService.Effect], _ change: Change) -> Bool {
    guard change.isOfLinkAlone, !plan.kind.hasETags else { return false }
    return zip(effects, effects.dropFirst()).allSatisfy(isHiddenLink)
  }

  private func isHiddenLink(_ effect: ModelService.Effect, _ repetition: ModelService.Effect) -> Bool {
    let between = model.service.effects[effect.number..<repetition.number].dropFirst().filter {
      $0.entity == effect.entity
    }
    // Set back to what it was before, the link is as if nothing had been sent.
    if effect.overwritten["Buyer"]?.value == repetition.overwritten["Buyer"]?.value { return true }
    return !between.isEmpty
      && between.allSatisfy { $0.kind == .link || $0.kind == .unlink || Set($0.overwritten.keys) == ["Buyer"] }
  }

  /// Whether another client has deleted or created the entity between two effects, or has set its link as it was before.
  private func isMadeAgain(_ effects: [ModelService.Effect], _ change: Change) -> Bool {
    let isCreation = change.operation == .create || change.operation == .createDeep
    guard effects.count == 2, change.isLink || change.operation == .media || isCreation, let first = effects.first
    else {
      return false
    }
    let between = model.service.effects.filter {
      $0.entity == first.entity && $0.number > first.number && $0.number < effects[1].number && $0.actor != first.actor
    }
    // Without ETags nothing shows that another client has changed the link.
    if change.isLink, !plan.kind.hasETags { return true }
    return between.contains {
      $0.kind == .create || $0.kind == .delete && isCreation
        || change.isLink && ($0.kind == .link || $0.kind == .update)
    }
  }

  /// Whether a look at the service could have shown that the change is done. An entity under a key of the service's is
  /// known by its texts alone: where others have replaced all of them, or deleted it, nobody can tell.
  private func isDetectable(_ effect: ModelService.Effect, _ change: Change) -> Bool {
    let earlier = model.service.effects.prefix(effect.number).filter {
      $0.kind == .create && $0.actor == effect.actor && $0.mark == effect.mark
    }
    guard effect.kind == .create, plan.kind.givesKeys, !change.texts.isEmpty, !earlier.isEmpty else { return true }
    return earlier.contains { shows($0.entity, change, at: effect) }
  }

  /// Whether an entity that a creation has made still had one of its texts when a later one was carried out.
  private func shows(_ created: ModelService.Name, _ change: Change, at later: ModelService.Effect) -> Bool {
    shows(later.left[created] ?? "", change.texts)
  }

  /// Whether a text contains one of those that were sent, in any form in which a service stores it.
  private func shows(_ text: String, _ sent: [String]) -> Bool {
    let text = text.uppercased()
    return sent.contains { text.contains($0.prefix(6).uppercased()) }
  }

  /// Whether two equal creations were carried out together, both without a response, and each repetition came when the
  /// service showed one of the entities at most: nothing says which of the two has made it.
  private func isOfTwin(_ effects: [ModelService.Effect], _ change: Change) -> Bool {
    guard let twin = change.twin.map({ changes[$0] }), plan.kind.givesKeys, effects.allSatisfy({ $0.kind == .create }),
      ![change, twin].contains(where: hasPartFault)
    else { return false }
    let created = model.service.effects.filter {
      $0.kind == .create && $0.actor == change.store && ($0.mark == change.mark || $0.mark == twin.mark)
    }
    /// The latest creations of the two, if they were carried out together.
    func isTogether(_ place: Int) -> Bool {
      let latest = Set(created[..<place].map(\.mark)).compactMap { mark in created[..<place].last { $0.mark == mark } }
      return latest.count == 2 && latest.allSatisfy(\.isLost) && abs(latest[0].number - latest[1].number) == 1
    }
    var areTogether = false
    return created.indices.allSatisfy { place in
      let isRepetition =
        created[..<place].contains { $0.mark == created[place].mark } && effects.contains(created[place])
      areTogether = areTogether || isTogether(place)
      return !isRepetition
        || areTogether && created[..<place].last { $0.mark == created[place].mark }?.isLost ?? false
          && created[..<place].count { shows($0.entity, change, at: created[place]) } < 2
          && !wereSeen(created[..<place].map(\.entity), change, before: created[place])
    }
  }

  /// Whether a download has brought two of some entities as a creation made them, before an effect.
  private func wereSeen(_ created: [ModelService.Name], _ change: Change, before effect: ModelService.Effect) -> Bool {
    sightings.contains { sighting in
      guard sighting.store == change.store, sighting.number <= effect.number else { return false }
      return created.count { name in sighting.entities[name].map { isAsMade($0, change) } ?? false } > 1
    }
  }

  /// Whether an entity has the first text of the creation that made it, and nobody else has changed what that sent.
  func isAsMade(_ entity: ModelService.Entity, _ change: Change) -> Bool {
    let values = Set(entity.values.values.map(\.plainText))
    return change.texts.first.map(values.contains) ?? false
      && entity.sent.allSatisfy { entity.writers[$0] == change.store }
  }

  /// Whether nothing at the service shows any more that a creation has been carried out: see ``isDetectable(_:_:)``.
  func isHidden(_ change: Change) -> Bool {
    guard change.operation == .create || change.operation == .createDeep, plan.kind.givesKeys, change.set != "Tags",
      !change.texts.isEmpty
    else { return false }
    let made = model.service.effects.filter { $0.mark == change.mark && $0.kind == .create }
    return !made.contains { shows(model.service.text(of: $0), change.texts) }
  }

  /// The fault that the repetition, or the loss, of a change shows.
  private func itemOfRepetition(_ change: Change) -> Int? {
    switch change.operation {
    case .media: return 6
    case .link, .unlink: return 7
    default: break
    }
    if hasPartFault(change) { return 2 }
    return change.operation == .update && change.policies.contains("client") ? 9 : 1
  }

  private func judgeTarget(_ change: Change, _ effects: [ModelService.Effect], _ service: ModelService) {
    guard let target = name(of: change.target, service) else { return }
    // Where a creation was rightly done twice, the later entity is the store's.
    let created = changes.filter { $0.operation == .create || $0.operation == .createDeep }.map { creation in
      service.effects.filter { $0.kind == .create && $0.mark == creation.mark }.map(\.entity)
    }
    let own = created.first { $0.contains(target) } ?? []
    for effect in effects where effect.entity != target && !own.contains(effect.entity) {
      find(.unasked, item: 1, "\(change.mark) (\(change.operation) of \(target)) changed \(effect.entity)")
    }
  }

  private func judgeFate(_ change: Change, _ effects: [ModelService.Effect], _ service: ModelService) {
    switch change.outcome {
    case .vanished(let when):
      find(.vanished, item: nil, "\(change.mark) (\(change.operation) at \(change.store)) \(when)")
    case .undone where !effects.isEmpty:
      find(
        .undoneThoughDone, item: 8,
        "\(change.mark) (\(change.operation) at \(change.store)) was taken back, and is done")
    case .sent where effects.isEmpty && !isSettledByOthers(change, service) && !isReplaced(change):
      let isMoved = scheduled.contains(change.number)
      find(
        .lost, item: isMoved ? 4 : itemOfRepetition(change), "\(change.mark) (\(change.operation) at \(change.store))")
    default: break
    }
  }

  /// Whether what a change wanted is so without it, or it was given up by a conflict's policy.
  private func isSettledByOthers(_ change: Change, _ service: ModelService) -> Bool {
    if change.policies.contains("server") { return true }
    let isThere = name(of: change.target, service).map { service.everKnown.contains($0) && service.entities[$0] != nil }
    switch change.operation {
    // It may have led nowhere all the time, or others have set it since.
    case .unlink where isLinkedByOthers(change, service): return true
    case .unlink
    where name(of: change.target, service).map { service.entities[$0]?.links["Buyer"]?.isEmpty ?? true } == true:
      return true
    case .delete, .unlink:
      return isThere != true
        || service.effects.contains { $0.kind == .delete && $0.entity == name(of: change.target, service) }
    // The link may have been there before.
    case .link: return isLinkedByOthers(change, service)
    case .update where change.isOfLinkAlone:
      return isLinkedByOthers(change, service, where: { $0.overwritten["Buyer"] != nil })
    default: return false
    }
  }

  /// Whether a later change of the same transaction has taken effect, and set all that this one sets; or whether others of it
  /// have, at a service that carries out a change set in part, which shows only that the whole was carried out.
  private func isReplaced(_ change: Change) -> Bool {
    guard let first = change.transaction else { return false }
    return changes.contains { other in
      guard other.transaction == first, other.store == change.store, other.number != change.number,
        model.service.effects.contains(where: { $0.mark == other.mark })
      else { return false }
      if !plan.kind.rollsBack, !change.faults.isEmpty { return true }
      return other.number > change.number && other.target == change.target
        && Set(change.seen.keys).isSubset(of: other.seen.keys)
    }
  }

  private func isLinkedByOthers(
    _ change: Change, _ service: ModelService, where isOfLink: (ModelService.Effect) -> Bool = { _ in true }
  ) -> Bool {
    guard let name = name(of: change.target, service) else { return false }
    return service.effects.contains {
      $0.entity == name && ($0.kind == .link || $0.kind == .update) && $0.mark != change.mark && isOfLink($0)
    }
  }

  /// Under ETags no store overwrites what it has not seen, unless it was told to.
  private func judgeOverwriting(_ change: Change, _ effects: [ModelService.Effect]) {
    let isGuarded = change.operation == .media ? plan.kind.streamETags != .none : plan.kind.hasETags
    // A person who sends a change again wants what is behind it, too.
    let isWanted = changes.contains { other in
      other.store == change.store && other.isRetried
        && (other.target == change.target || other.transaction != nil && other.transaction == change.transaction)
    }
    guard isGuarded, !change.policies.contains("client"), !isWanted else { return }
    for effect in effects {
      // The condition of a change set stands at its first change of an entity alone.
      if effect.condition == "*", change.transaction != nil, !plan.kind.rollsBack { continue }
      // One that is carried out in part leaves an ETag behind under which the store has not seen all.
      if !plan.kind.rollsBack, hasPartialTransaction(before: change) { continue }
      for (slot, old) in effect.overwritten.sorted(by: { $0.key < $1.key }) {
        guard old.writer != "", old.writer != effect.actor, let seen = change.seen[slot], seen != old.value else {
          continue
        }
        if isSettled(change, slot) { continue }
        // A V2 service takes no ETag for a link ([MS-ODATA] 3.1.4.4.1).
        if slot == "Buyer", plan.kind.isV2 { continue }
        // A value that its creation left out may be the service's own.
        if seen == "null", isOfLostCreation(effect.entity) { continue }
        var item: Int? = change.transaction != nil ? 10 : change.faults.isEmpty ? nil : 1
        if slot == "$value" { item = 6 } else if slot == "Buyer" { item = 7 }
        let before = changes.last { earlier in
          earlier.number < change.number && earlier.store == change.store && earlier.target == change.target
            && model.service.effects.contains { $0.mark == earlier.mark }
        }
        let place = before.map { ", behind \($0.mark)" } ?? ""
        find(
          .overwritten, item: item,
          "\(change.mark): \(slot) of \(effect.entity), '\(old.value)' of \(old.writer), under \(effect.condition ?? "no condition"); the store had '\(seen)'\(place)"
        )
      }
    }
  }

  /// Whether the same store has changed the same entity before by a transaction of which only a part took effect.
  private func hasPartialTransaction(before change: Change) -> Bool {
    let marks = Set(model.service.effects.compactMap(\.mark))
    return changes.prefix(change.number).contains { earlier in
      guard earlier.store == change.store, earlier.target == change.target, let first = earlier.transaction else {
        return false
      }
      let members = changes.filter { $0.store == earlier.store && $0.transaction == first }
      return Set(members.map { marks.contains($0.mark) }).count == 2
    }
  }

  /// Whether a conflict that a download may have noticed was decided by a later change of the same property, or by the
  /// deletion of the entity: the user has seen both.
  private func isSettled(_ change: Change, _ slot: String) -> Bool {
    changes.dropFirst(change.number + 1).contains { later in
      later.store == change.store && later.target == change.target
        && (later.operation == .delete || later.seen[slot] != nil)
        && downloads.contains { $0.store == change.store && change.number < $0.changes && $0.changes <= later.number }
    }
  }

  /// Whether the response to the creation of an entity was lost.
  private func isOfLostCreation(_ entity: ModelService.Name) -> Bool {
    changes.contains { creation in
      (creation.operation == .create || creation.operation == .createDeep) && !creation.faults.isEmpty
        && model.service.effects.contains { $0.kind == .create && $0.mark == creation.mark && $0.entity == entity }
    }
  }

  /// Values of a media entity that was made from values alone.
  private func judgeValues(_ change: Change, _ effects: [ModelService.Effect], _ service: ModelService) {
    guard change.operation == .create, change.set == "Photos", change.outcome == .sent,
      let created = effects.first(where: { $0.kind == .create })
    else { return }
    if !effects.contains(where: { $0.kind == .update && $0.entity == created.entity }) {
      find(.valuesLost, item: 5, "\(change.mark): \(created.entity) was made of JSON as if that were its picture")
    }
  }

  /// Whether two changes are of one transaction, at a service that carries out a change set in part.
  private func isInPart(_ change: Change, _ other: Change) -> Bool {
    change.transaction != nil && change.transaction == other.transaction && !plan.kind.rollsBack
  }

  /// The changes that one store made of one entity take effect in their order.
  private func judgeOrder(_ effects: [String: [ModelService.Effect]], _ service: ModelService) {
    var last: [String: (number: Int, effect: Int)] = [:]
    for change in changes where !change.isRetried {
      guard let target = name(of: change.target, service), let effect = effects[change.mark]?.first else { continue }
      let place = "\(change.store) \(target)"
      if let before = last[place], before.effect > effect.number, !isInPart(change, changes[before.number]) {
        find(
          .order, item: scheduled.contains(change.number) ? 4 : nil,
          "\(change.mark) took effect before m\(before.number), which \(change.store) made of \(target) before")
      }
      last[place] = (change.number, effect.number)
    }
  }
}
