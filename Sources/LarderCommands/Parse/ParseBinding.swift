internal import LarderOData

/// The model of `--model`, and the type or set to which texts without a path apply.
struct ParseBinding: Sendable {
  private let binder: ODataBinder
  private let type: String?
  private let set: String?

  /// Creates a binding to a model, for the given version if there is one.
  init(_ model: EdmModel, version: ODataVersion?, type: String?, set: String?) {
    binder = ODataBinder(model: model, options: version.map { ODataBinderOptions(version: $0) })
    self.type = type
    self.set = set
  }

  /// The version of the model's services.
  var version: ODataVersion { binder.options.version }

  /// Why a tree cannot be bound.
  enum Failure: Error {
    case binding(ODataBindingError)
    /// The tree needs a type or set to apply to, or is a part without a meaning of its own.
    case notBindable(String)
  }

  /// Binds a tree to the model and returns it as JSON.
  func bind(_ tree: ODataSyntaxTree, text: String) throws(Failure) -> JSONNode {
    do throws(ODataBindingError) {
      switch tree {
      case .url(let url): return SyntaxNode.bound(try binder.bind(url, text: text))
      case .path(let path) where type == nil && set == nil:
        return SyntaxNode.bound(try binder.bind(ODataURL(.path(path)), text: text))
      case .path(let path): return SyntaxNode.bound(try bind(ODataExpression(.path(path)), text))
      case .context(let fragment):
        try binder.check(fragment, text: text)
        return SyntaxNode.tree(tree)
      case .expression(let expression): return SyntaxNode.bound(try bind(expression, text))
      default:
        guard let options = ParseBinding.options(tree) else { break }
        if let set {
          return SyntaxNode.node(
            "options", ("options", SyntaxNode.bound(try binder.bind(options, onSet: set, text: text))))
        }
        guard let type else { break }
        // Options that apply to one instance apply to several too.
        let collectionType = type.hasPrefix("Collection(") ? type : "Collection(\(type))"
        return SyntaxNode.node(
          "options", ("options", SyntaxNode.bound(try binder.bind(options, on: collectionType, text: text))))
      }
    } catch {
      throw .binding(error)
    }
    guard ParseBinding.options(tree) != nil else {
      throw .notBindable("--model: a text of this rule has no names to look up in a model")
    }
    throw .notBindable("--model: specify what the options apply to with --set NAME or --type NAME")
  }

  private func bind(_ expression: ODataExpression, _ text: String) throws(ODataBindingError) -> ODataBoundExpression {
    guard let set else { return try binder.bind(expression, on: type, text: text) }
    // An unknown set throws here.
    let type = try binder.bind(ODataQueryOptions(), onSet: set).type
    return try binder.bind(expression, on: type.map { "\($0.single)" }, from: set, text: text)
  }

  /// Options that contain the parsed tree; nil if it belongs to none.
  private static func options(_ tree: ODataSyntaxTree) -> ODataQueryOptions? {
    var options = ODataQueryOptions()
    switch tree {
    case .options(let given): options = given
    case .orderBy(let items): options.orderBy = items
    case .compute(let items): options.compute = items
    case .select(let items): options.select = items
    case .expand(let items): options.expand = items
    case .search(let search): options.search = search
    case .apply(let sequence): options.apply = sequence
    default: return nil
    }
    return options
  }
}
