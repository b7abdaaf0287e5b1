import LarderHTTP
import LarderOData
import LarderService

/// The value of `$expand` that reads a created entity with the entities that its creation contains.
struct DeepInsertExpansion {
  /// Nil if the creation contains no other entities.
  let text: String?

  init(_ request: ODataSingleRequest, _ model: EdmModel) {
    guard request.operation == .create, case .entity(let entity) = request.body else {
      text = nil
      return
    }
    let isNested = model.version >= .v4
    let paths = DeepInsertExpansion.paths([entity], hasCasts: isNested, depth: 0)
    text = paths.isEmpty ? nil : DeepInsertExpansion.text(paths, isNested: isNested)
  }

  /// The navigation properties with inline entities, and those of these entities.
  private struct Path {
    let name: String
    let inner: [Path]
  }

  private static func paths(_ entities: [ODataEntity], hasCasts: Bool, depth: Int) -> [Path] {
    guard depth < 50 else { return [] }
    let links = entities.flatMap { entity in
      entity.navigationLinks.map { link -> (name: String, [ODataEntity]) in
        let cast = hasCasts ? entity.typeName.map { $0 + "/" } : nil
        return (name: (cast ?? "") + link.name, link.entities ?? link.entity.map { [$0] } ?? [])
      }
    }
    let names = links.filter { !$0.1.isEmpty }.map(\.name)
    return Set(names).sorted().map { name in
      Path(
        name: name, inner: paths(links.filter { $0.name == name }.flatMap(\.1), hasCasts: hasCasts, depth: depth + 1))
    }
  }

  /// Before V4, each level is a path of its own.
  private static func text(_ paths: [Path], isNested: Bool) -> String {
    guard !isNested else {
      return paths.map { path in
        path.name + (path.inner.isEmpty ? "" : "($expand=" + text(path.inner, isNested: true) + ")")
      }.joined(separator: ",")
    }
    return paths.flatMap { path -> [String] in
      path.inner.isEmpty
        ? [path.name] : text(path.inner, isNested: false).split(separator: ",").map { path.name + "/" + $0 }
    }.joined(separator: ",")
  }
}
