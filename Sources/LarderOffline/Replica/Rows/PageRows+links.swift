import LarderOData

// What the rows show of the links that the query requests.
extension PageRows {
  static func noFacts(_ requested: RequestedLinks) -> [[LinkFacts]] {
    requested.levels.map { level in
      level.links.map { LinkFacts(isCollection: level.table.navigations[$0.navigation].isCollection) }
    }
  }

  /// The facts by the names of the links.
  var linkFacts: [String: LinkFacts] {
    var all: [String: LinkFacts] = [:]
    for (level, facts) in zip(requested?.levels ?? [], shown) {
      for (link, facts) in zip(level.links, facts) where facts.isShown || facts.lacking > 0 { all[link.name] = facts }
    }
    return all
  }

  /// Sets the level of an entity that begins, and records that the enclosing entity has it inline.
  mutating func enterLevel(_ frame: inout OpenRow) {
    guard frame.enclosing >= 0 else { return frame.level = 0 }
    let level = frames[frame.enclosing].level
    guard level >= 0, let links = requested?.levels[level].links else { return }
    frame.level = links.first { $0.navigation == frame.navigation }?.target ?? -1
    noteShown(frame.navigation, by: frame.enclosing)
  }

  /// Records that an entity has a link inline.
  mutating func noteShown(_ navigation: Int, by entity: Int) {
    guard frames.indices.contains(entity), frames[entity].level >= 0, let requested,
      let place = requested.levels[frames[entity].level].links.firstIndex(where: { $0.navigation == navigation }),
      place < 64
    else { return }
    frames[entity].shownLinks |= 1 << UInt64(place)
  }

  /// Keeps the URL of a link that no row has shown, until one URL is known.
  mutating func noteURL(_ scalar: PayloadScalar, of navigation: Int, _ entity: Int) {
    let level = frames[entity].level
    guard let requested,
      let place = requested.levels[level].links.firstIndex(where: { $0.navigation == navigation }),
      followsLinks || shown[level][place].url == nil
    else { return }
    frames[entity].linkURLs[navigation] = scalar.string
  }

  /// Counts which requested links an entity has, and which it lacks. In a delta, links that are absent are unchanged.
  mutating func noteRequestedLinks(_ frame: OpenRow, _ top: Int) {
    guard frame.flags.isEmpty, let links = requested?.levels[frame.level].links else { return }
    for (place, link) in links.enumerated() where place < 64 {
      if frame.shownLinks & 1 << UInt64(place) != 0 {
        shown[frame.level][place].isShown = true
      } else if kind != .delta, canHave(link.navigation, frame) {
        shown[frame.level][place].lacking += 1
        guard followsLinks || !shown[frame.level][place].isShown && shown[frame.level][place].url == nil else {
          continue
        }
        let url = frame.linkURLs[link.navigation] ?? url(of: link.navigation, top)
        shown[frame.level][place].url = shown[frame.level][place].url ?? url
        if followsLinks { noteCandidate(url, link.navigation, frame) }
      }
    }
  }

  /// Records a link that may have to be followed. Its former targets are no longer known.
  private mutating func noteCandidate(_ url: String?, _ navigation: Int, _ frame: OpenRow) {
    if case .links(let link, let isForward) = frame.table.navigations[navigation].relation {
      batch.completeLinks.append(PageBatch.CompleteLinks(link: link, row: frame.index, isSource: isForward))
    }
    guard let url else { return }
    batch.inlines.append(
      PageBatch.Inline(link: url, parent: frame.index, navigation: navigation, isCandidate: true))
  }

  /// Whether an entity can have a navigation property: its type declares it, and so does the complex value on its path.
  private func canHave(_ navigation: Int, _ frame: OpenRow) -> Bool {
    let (table, navigation) = (frame.table, frame.table.navigations[navigation])
    let number = frame.map >= 0 ? maps[frame.map].typeNumber : 0
    let type = table.types.indices.contains(number) ? table.types[number] : table.type
    guard !table.hasTypes || type.isOrDerives(from: navigation.declaringType) else { return false }
    for length in 1..<max(navigation.path.count, 1) {
      let path = Array(navigation.path.prefix(length))
      guard let column = table.column(path, on: type), batch.isPresent(frame.index, column.number),
        case .text(let name) = batch.value(frame.index, column.number)
      else { return false }
      let declared = (name.isEmpty ? column.type.name : name).flatMap { model.structure($0) }
      guard length < navigation.path.count - 1 || declared?.navigationProperty(navigation.path[length]) != nil else {
        return false
      }
    }
    return true
  }

  /// The URL of an entity's link, by the conventions; nil if the payload does not say enough.
  private func url(of navigation: Int, _ top: Int) -> String? {
    let table = frames[top].table
    return url(of: top).map { $0 + "/" + table.navigations[navigation].pathWithCasts(from: table.type, model) }
  }

  private func predicate(_ cells: EntityCells, _ table: EntityTable) -> String? {
    try? table.keyPredicate(cells, model)
  }

  private func url(of top: Int) -> String? {
    let frame = frames[top]
    if let id = frame.links.any { return id }
    var cells = EntityCells()
    for number in frame.table.key where batch.isPresent(frame.index, number) {
      cells[frame.table.columns[number].name] = batch.value(frame.index, number)
    }
    let hasKey = !frame.table.key.isEmpty && cells.values.count == frame.table.key.count
    let key = hasKey ? predicate(cells, frame.table) : nil
    switch frame.table.place {
    case .singleton(let name): return name
    case .entitySet(let name): return key.map { "\(name)(\($0))" }
    case .containment, .type:
      guard frame.enclosing >= 0, let above = url(of: frame.enclosing) else { return nil }
      let (source, navigation) = (frames[frame.enclosing].table, frame.navigation)
      let path = above + "/" + source.navigations[navigation].pathWithCasts(from: source.type, model)
      guard source.navigations[navigation].isCollection else { return path }
      return key.map { "\(path)(\($0))" }
    }
  }
}
