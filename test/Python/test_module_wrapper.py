"""`wok.jit` of a `torch.nn.Module`."""

import copy
import io
import pickle

import pytest
import torch
import wok
from torch import nn


class Net(nn.Module):
    """A net."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros(()))
        self.scale = 2.0

    def forward(self, x, *, shift=0.0):
        return self.lin(x) * self.scale + shift


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net().eval()


@torch.no_grad()
def test_calls(net):
    jitted, x = wok.jit(net), torch.randn(4, 3)
    for _ in range(3):
        torch.testing.assert_close(jitted(x, shift=1.0), net(x, shift=1.0))
    with pytest.raises(TypeError, match="forward"):
        jitted()


def test_it_is_a_module_of_its_class(net):
    jitted = wok.jit(net, fullgraph=False)
    assert isinstance(jitted, Net) and isinstance(jitted, nn.Module)
    assert type(jitted).__name__ == "Net" and jitted.__doc__ == "A net."
    assert repr(jitted) == repr(net)
    assert [n for n, _ in jitted.named_parameters()] == ["lin.weight", "lin.bias"]
    assert jitted.lin is net.lin and jitted.scale == 2.0
    assert list(jitted.state_dict()) == list(net.state_dict())


def test_state_is_shared(net):
    jitted = wok.jit(net)
    jitted.scale = 3.0
    assert net.scale == 3.0
    net.extra = nn.Parameter(torch.ones(1))
    assert jitted.extra is net.extra
    jitted.train()
    assert net.training
    jitted.double()
    assert net.lin.weight.dtype == torch.float64


@torch.no_grad()
def test_hooks_run(net):
    jitted, log = wok.jit(net), []
    handle = jitted.register_forward_hook(
        lambda m, args, out: log.append(type(m).__name__) or out + 1
    )
    x = torch.randn(2, 3)
    torch.testing.assert_close(jitted(x), net(x))
    assert log == ["Net", "Net"]
    handle.remove()
    jitted(x)
    assert len(log) == 2


def test_training(net):
    jitted = wok.jit(net)
    optimizer = torch.optim.SGD(jitted.parameters(), lr=0.1)
    before = net.lin.weight.detach().clone()
    jitted(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    assert not torch.equal(before, net.lin.weight)


@torch.no_grad()
def test_copies_and_pickles(net):
    jitted, x = wok.jit(net), torch.randn(2, 3)
    want = net(x)
    twin = copy.deepcopy(jitted)
    torch.testing.assert_close(twin(x), want)
    assert twin.lin is not net.lin and type(twin) is not Net and isinstance(twin, Net)
    torch.testing.assert_close(pickle.loads(pickle.dumps(jitted))(x), want)
    buffer = io.BytesIO()
    torch.save(jitted, buffer)
    buffer.seek(0)
    torch.testing.assert_close(torch.load(buffer, weights_only=False)(x), want)


@torch.no_grad()
def test_as_a_submodule_and_again(net):
    outer = nn.Sequential(wok.jit(net), nn.ReLU())
    x = torch.randn(2, 3)
    torch.testing.assert_close(outer(x), net(x).relu())
    again = wok.jit(wok.jit(net))
    assert type(again).__mro__[1] is Net
    torch.testing.assert_close(wok.jit(outer)(x), net(x).relu())


@torch.no_grad()
def test_decorated_forward():
    class Own(nn.Module):
        @wok.jit
        def forward(self, x):
            return x * 2 + 1

    x = torch.randn(3)
    torch.testing.assert_close(Own()(x), x * 2 + 1)


@torch.no_grad()
def test_explain(net):
    x = torch.randn(2, 3)
    torch.testing.assert_close(wok.explain(wok.jit(net))(x).result, net(x))
    torch.testing.assert_close(wok.explain(net)(x).result, net(x))


def test_own_call(net):
    class Own(Net):
        def __call__(self, x):
            return super().__call__(x, shift=1.0)

    own = Own().eval()
    x = torch.ones(1, 3)
    with torch.no_grad():
        torch.testing.assert_close(wok.jit(own)(x), own(x))
