"""Models of other libraries, with the libraries where they are installed."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hushgrad import InvalidParameter, plan
from hushgrad.federated import chosen, difference, moved
from hushgrad.models import coefficients, flatten, gradients, set_coefficients, trainable, unflatten

os.environ.setdefault("KERAS_BACKEND", "jax")


def test_parameters_that_want_no_gradient_and_buffers_do_not_train() -> None:
    torch: Any = pytest.importorskip("torch")
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    model[0].requires_grad_(False)
    arrays = {name: value.numpy() for name, value in model.state_dict().items()}
    names = chosen(arrays, trainable(model))
    assert names == ("1.weight", "1.bias", "2.weight", "2.bias")
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    before = {name: array.copy() for name, array in arrays.items()}
    torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.arange(8) % 2).backward()
    optimizer.step()
    after = {name: value.numpy() for name, value in model.state_dict().items()}
    assert after["1.running_mean"].tobytes() != before["1.running_mean"].tobytes()
    row = difference(after, before, names, print)
    stepped = moved(before, names, row.astype(np.float64))
    model.load_state_dict({name: torch.from_numpy(a) for name, a in stepped.items()})
    for name, array in model.state_dict().items():
        same = array.numpy().tobytes() == before[name].tobytes()
        assert same == (name not in names), name


def test_adapters_of_peft_train_alone() -> None:
    torch: Any = pytest.importorskip("torch")
    peft: Any = pytest.importorskip("peft")

    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
    model = peft.get_peft_model(net, peft.LoraConfig(r=2, target_modules=["0"]))
    arrays = {name: value.numpy() for name, value in model.state_dict().items()}
    names = chosen(arrays, trainable(model))
    assert names == tuple(name for name in arrays if ".lora_" in name)
    assert sum(arrays[name].size for name in names) == 2 * (4 + 3)


def test_a_parameter_with_two_names_trains_under_the_last_one() -> None:
    torch: Any = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
    model[1].weight = model[0].weight
    assert trainable(model) == ["1.weight"]
    arrays = {name: torch.zeros(5, 3) for name in model.state_dict()} | {
        "1.weight": torch.ones(5, 3)
    }
    model.load_state_dict(arrays)
    assert (model[0].weight == 1).all()


def test_gradients_of_batches_are_pytorchs() -> None:
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(1)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2, bias=False), nn.Dropout(0))
    model[0].bias.requires_grad_(False)
    loss, x, y = nn.CrossEntropyLoss(), torch.randn(7, 4), torch.arange(7) % 2
    each = gradients(model, loss, torch.utils.data.DataLoader([*zip(x, y, strict=True)]))
    assert {name: array.shape for name, array in each.items()} == {
        "0.weight": (7, 3, 4),
        "2.weight": (7, 2, 3),
    }
    (whole,) = gradients(model, loss, [(x, y)])["0.weight"]
    np.testing.assert_allclose(each["0.weight"].mean(axis=0), whole, rtol=1e-5, atol=1e-7)
    wanted = torch.autograd.grad(loss(model(x[2:3]), y[2:3]), model[2].weight)[0].numpy()
    np.testing.assert_allclose(each["2.weight"][2], wanted, rtol=1e-5, atol=1e-7)
    parts = [gradients(model, loss, [(x[i : i + 1], y[i : i + 1])]) for i in range(7)]
    assert np.array_equal(np.concatenate([p["2.weight"] for p in parts]), each["2.weight"])
    run = plan(public=each, clients=100, epsilon=4, force=True)
    assert run.dim == 3 * 4 + 2 * 3
    kept = {name: array.tobytes() for name, array in each.items()}
    gradients(model, loss, [(x, y)])  # which writes into no array that came before
    assert all(each[name].tobytes() == before for name, before in kept.items())


def test_gradients_of_records_are_those_of_functorch() -> None:
    torch: Any = pytest.importorskip("torch")
    functorch: Any = pytest.importorskip("functorch")
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 3)
    call, weights, buffers = functorch.make_functional_with_buffers(model)

    def loss(weights: Any, x: Any, y: Any) -> Any:
        scores = call(weights, buffers, x[None])
        return torch.nn.functional.cross_entropy(scores, y[None])

    x, y = torch.randn(9, 4), torch.arange(9) % 3
    each = functorch.vmap(functorch.grad(loss), in_dims=(None, 0, 0))(weights, x, y)
    batches = [(x[i : i + 1], y[i : i + 1]) for i in range(9)]
    ours = gradients(model, torch.nn.CrossEntropyLoss(), batches)
    for name, array in zip(("weight", "bias"), each, strict=True):
        np.testing.assert_allclose(ours[name], array.detach().numpy(), rtol=1e-5, atol=1e-7)


def test_gradients_need_a_module_and_batches() -> None:
    def loss(scores: Any, labels: Any) -> Any:
        return scores - labels

    with pytest.raises(InvalidParameter, match="list, rule: must be a module of PyTorch"):
        gradients([1], loss, [])
    torch: Any = pytest.importorskip("torch")
    with pytest.raises(InvalidParameter, match="batches: got none, rule: must be at least one"):
        gradients(torch.nn.Linear(2, 2), loss, [])


@pytest.mark.filterwarnings("ignore:__array__ implementation")  # of Keras
def test_weights_of_keras_have_their_places_as_names() -> None:
    pytest.importorskip("jax")
    keras: Any = pytest.importorskip("keras")
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((4,)),
            layers.Dense(3, trainable=False),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(2),
        ]
    )
    names = trainable(model)
    weights = model.get_weights()
    assert [weights[int(name)].shape for name in names] == [(3,), (3,), (3, 2), (2,)]
    paths = [model.weights[int(name)].path.split("/")[-1] for name in names]
    assert paths == ["gamma", "beta", "kernel", "bias"]


def test_variables_of_flax_become_arrays_and_back() -> None:
    jax: Any = pytest.importorskip("jax")
    linen: Any = pytest.importorskip("flax.linen")

    class Net(linen.Module):
        """A network of two layers."""

        @linen.compact
        def __call__(self, x: Any) -> Any:
            x = linen.Dense(3, name="body")(x)
            return linen.Dense(2, name="head")(linen.BatchNorm(use_running_average=True)(x))

    x = np.ones((2, 4), np.float32)
    variables = Net().init(jax.random.key(0), x)
    arrays = flatten(variables)
    assert arrays["params/head/kernel"].shape == (3, 2)
    assert set(chosen(arrays, "params/head/*")) == {"params/head/bias", "params/head/kernel"}
    assert not any(name.startswith("batch_stats") for name in chosen(arrays, "params/*"))
    back = unflatten(arrays)
    assert jax.tree.structure(back) == jax.tree.structure(variables)
    assert (Net().apply(back, x) == Net().apply(variables, x)).all()


def test_a_tree_has_a_path_for_each_array() -> None:
    tree = {"a": {"b": np.ones(2), "c": {"d": 1.5}}, "e": np.arange(2)}
    arrays = flatten(tree)
    assert list(arrays) == ["a/b", "a/c/d", "e"]
    inner = {"b": arrays["a/b"], "c": {"d": arrays["a/c/d"]}}
    assert unflatten(arrays) == {"a": inner, "e": arrays["e"]}
    wrong: list[Any] = [{"a": [1.0]}, {"a": {"b": (1.0,)}}, {"a/b": 1.0}, {1: 1.0}, {"": 1.0}]
    for each in wrong:
        with pytest.raises(InvalidParameter) as refused:
            flatten(each)
        assert refused.value.param == "tree"
    for names in (("a", "a/b"), ("a/b", "a")):
        with pytest.raises(InvalidParameter, match="path of another array"):
            unflatten({name: np.ones(1) for name in names})


def test_linear_models_of_scikit_learn_train_from_zeros() -> None:
    linear: Any = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    y = np.arange(300) % 3
    x = 2 * np.eye(3)[y] + rng.standard_normal((300, 3)) / 2
    model = {"coef_": np.zeros((3, 3)), "intercept_": np.zeros(3)}
    names = chosen(model, None)
    for _ in range(3):
        updates = np.zeros(12)
        for part in range(10):
            client = linear.SGDClassifier(
                loss="log_loss", learning_rate="constant", eta0=0.1, alpha=0
            )
            set_coefficients(client, model)
            client.partial_fit(x[part::10], y[part::10], classes=[0, 1, 2])
            updates += difference(coefficients(client), model, names, print)
        model = moved(model, names, updates / 10)
    judge = linear.SGDClassifier()
    set_coefficients(judge, model)
    judge.classes_ = np.arange(3)
    assert judge.score(x, y) > 0.9
    coefficients(judge)["coef_"][:] = 0  # a copy
    assert judge.score(x, y) > 0.9


def test_an_intercept_that_does_not_train_is_no_array() -> None:
    linear: Any = pytest.importorskip("sklearn.linear_model")
    x, y = np.eye(3), np.arange(3.0)
    assert list(coefficients(linear.Ridge().fit(x, y))) == ["coef_", "intercept_"]
    assert coefficients(linear.Ridge().fit(x, y))["intercept_"].shape == ()
    assert list(coefficients(linear.Ridge(fit_intercept=False).fit(x, y))) == ["coef_"]
    with pytest.raises(
        InvalidParameter, match="Ridge, rule: must be a linear model that has coef_"
    ):
        coefficients(linear.Ridge())
    with pytest.raises(InvalidParameter, match="must have 'intercept_'"):
        set_coefficients(linear.Ridge(), {"coef_": np.zeros(3)})


def test_another_model_is_named() -> None:
    with pytest.raises(InvalidParameter, match="list, rule: must be a module of PyTorch"):
        trainable([1])


def test_doubles_stand_in_where_no_library_is_installed() -> None:
    kept, still = SimpleNamespace(requires_grad=True), SimpleNamespace(requires_grad=False)
    every = {"a": kept, "b": still, "c": kept, "mean": SimpleNamespace(requires_grad=False)}

    def state_dict(*, keep_vars: bool) -> dict[str, SimpleNamespace]:
        return every if keep_vars else {name: SimpleNamespace() for name in every}

    module = SimpleNamespace(
        named_parameters=None, parameters=lambda: [kept, still], state_dict=state_dict
    )
    assert trainable(module) == ["c"]
    weights = [object() for _ in range(4)]
    assert trainable(SimpleNamespace(weights=weights, trainable_weights=weights[1:3])) == ["1", "2"]
    estimator = SimpleNamespace(coef_=np.ones(2), intercept_=0.5)
    arrays = coefficients(estimator)
    given = {"coef_": arrays["coef_"] + 1, "intercept_": np.array(2.0)}
    set_coefficients(estimator, given)
    given["coef_"][:] = 9  # the estimator has a copy
    assert (estimator.coef_.tolist(), float(estimator.intercept_)) == ([2.0, 2.0], 2.0)
