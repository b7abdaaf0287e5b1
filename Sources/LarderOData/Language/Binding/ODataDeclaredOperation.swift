/// One overload of a function or action, with its types looked up. Also a function import of V1 to V3, which has a
/// signature of its own.
package final class ODataDeclaredOperation: Sendable, Hashable {
  /// The kinds of declarations.
  package enum Declaration: Sendable, Hashable {
    /// A function.
    case function(EdmFunction)
    /// An action.
    case action(EdmAction)
    /// A function import of V1 to V3.
    case functionImport(EdmFunctionImport)
  }

  /// A parameter, with its type looked up.
  package struct Parameter: Sendable, Hashable {
    /// The declaration.
    package let parameter: EdmParameter
    /// The type.
    package let type: ODataBoundType
    /// Whether the parameter may be omitted (term `Core.OptionalParameter`).
    package let isOptional: Bool

    /// The name.
    package var name: String { parameter.name }
  }

  /// The declaration.
  package let declaration: Declaration
  /// The qualified name; unqualified for imports of V1 to V3.
  package let name: String
  /// Whether the operation has no side effects.
  package let isFunction: Bool
  /// Whether a path can continue from the result.
  package let isComposable: Bool
  /// The type that the operation is bound to; nil if it is not bound.
  package let bindingType: ODataBoundType?
  /// The parameters, except the binding parameter.
  package let parameters: [Parameter]
  /// The result type; nil if there is no result.
  package let result: ODataBoundType?
  let entitySetPath: String?
  let bindingName: String?

  init(
    _ declaration: Declaration, name: String, bindingType: ODataBoundType?, parameters: [Parameter],
    result: ODataBoundType?
  ) {
    self.declaration = declaration
    self.name = name
    self.bindingType = bindingType
    self.parameters = parameters
    self.result = result
    switch declaration {
    case .function(let function):
      isFunction = true
      isComposable = function.isComposable
      entitySetPath = function.entitySetPath
      bindingName = function.isBound ? function.parameters.first?.name : nil
    case .action(let action):
      isFunction = false
      isComposable = false
      entitySetPath = action.entitySetPath
      bindingName = action.isBound ? action.parameters.first?.name : nil
    case .functionImport(let item):
      isFunction = item.isSideEffecting != true
      isComposable = item.isComposable ?? true
      entitySetPath = item.entitySetPath
      bindingName = item.isBindable == true ? item.parameters.first?.name : nil
    }
  }

  /// Whether name, binding type and parameters are equal.
  package static func == (left: ODataDeclaredOperation, right: ODataDeclaredOperation) -> Bool {
    left === right
      || left.name == right.name && left.isFunction == right.isFunction && left.bindingType == right.bindingType
        && left.parameters == right.parameters
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A function or action under the service root.
package final class ODataDeclaredImport: Sendable, Hashable {
  /// The name, the first step of its URLs.
  package let name: String
  /// Whether it is a function import.
  package let isFunction: Bool
  /// The unbound overloads that it offers.
  package let operations: [ODataDeclaredOperation]
  /// The set that returned entities belong to.
  package let entitySet: String?

  init(name: String, isFunction: Bool, operations: [ODataDeclaredOperation], entitySet: String?) {
    self.name = name
    self.isFunction = isFunction
    self.operations = operations
    self.entitySet = entitySet
  }

  /// Whether the names are equal.
  package static func == (left: ODataDeclaredImport, right: ODataDeclaredImport) -> Bool {
    left === right || left.name == right.name && left.isFunction == right.isFunction
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
