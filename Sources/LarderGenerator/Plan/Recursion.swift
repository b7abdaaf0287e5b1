/// Finds complex types that contain themselves.
enum Recursion {
  /// Marks the members that lead back to their own type: they are stored outside of it.
  static func markIndirect(_ structures: inout [StructurePlan]) {
    let names = structures.indices.map { (structures[$0].name, $0) }
    let places = Dictionary(names, uniquingKeysWith: { first, _ in first })
    let inline = structures.map { structure in
      structure.members.filter { $0.kind == .complex && !$0.isCollection }.compactMap { places[$0.type] }
    }
    let reached = inline.indices.map { reachable(from: $0, inline) }
    for place in structures.indices {
      for number in structures[place].members.indices {
        let member = structures[place].members[number]
        guard member.kind == .complex, !member.isCollection, let target = places[member.type] else { continue }
        if target == place || reached[target].contains(place) { structures[place].members[number].isIndirect = true }
      }
    }
  }

  private static func reachable(from start: Int, _ edges: [[Int]]) -> Set<Int> {
    var reached: Set<Int> = []
    var pending = edges[start]
    while let next = pending.popLast() {
      if reached.insert(next).inserted { pending += edges[next] }
    }
    return reached
  }
}
