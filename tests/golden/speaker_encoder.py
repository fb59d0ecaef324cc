"""A speaker encoder with few features and random weights, and what Resemblyzer computes with it.

The folder `data/speaker_encoder` has `model.pt`, in PyTorch's legacy form with the state of an optimizer,
as the published file, and `reference.safetensors`:

    spectrograms  [batch, frames, bands] float32
    embeddings    [batch, features] float32
    utterance     [frames, bands] float32
    utterances    [4, features] float32: embeddings of its first 100, 197 and 198 frames, and of all

With SOUND set to moonshine-voice 0.1.5's beckett.wav, it also writes

    data/speaker_encoder/beckett.safetensors    by the published model, the embeddings of the windows of
                                                that speech, of the whole, and of its first and last half

RESEMBLYZER is the folder with the unpacked wheel of resemblyzer 0.1.4, whose class computes all of this.
Needs torch 1.12.1, transformers 4.44.2, for mel spectrograms, and numpy 1.26.4 on Python 3.10.
"""

import os
import pathlib
import sys
import types
import wave

import numpy as np
import torch
from safetensors.torch import save_file
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

OUT = pathlib.Path(__file__).parent / "data" / "speaker_encoder"
PACKAGE = pathlib.Path(os.environ["RESEMBLYZER"]) / "resemblyzer"
META = {"torch": torch.__version__}

# The package without its module for audio, which needs librosa and webrtcvad.
audio = types.ModuleType("resemblyzer.audio")
package = types.ModuleType("resemblyzer")
package.__path__ = [str(PACKAGE)]
sys.modules |= {"resemblyzer": package, "resemblyzer.audio": audio}
from resemblyzer import voice_encoder


class Trained(torch.nn.Module):
    """The modules of the published file."""

    def __init__(self, bands, features, layers, embedding):
        super().__init__()
        self.similarity_weight = torch.nn.Parameter(torch.tensor([10.0]))
        self.similarity_bias = torch.nn.Parameter(torch.tensor([-5.0]))
        self.lstm = torch.nn.LSTM(bands, features, layers, batch_first=True)
        self.linear = torch.nn.Linear(features, embedding)


def tiny():
    sizes = {"mel_n_channels": 5, "model_hidden_size": 6, "model_num_layers": 2, "model_embedding_size": 7}
    generator = torch.Generator().manual_seed(7)
    model = Trained(*sizes.values())
    for p in model.parameters():
        p.data = torch.randn(p.shape, generator=generator) * 0.5
    optimizer = torch.optim.Adam(model.parameters())
    sum(p.sum() for p in model.parameters()).backward()
    optimizer.step()
    state = {"step": 1, "model_state": model.state_dict(), "optimizer_state": optimizer.state_dict()}
    torch.save(state, OUT / "model.pt", _use_new_zipfile_serialization=False)

    published = {name: getattr(voice_encoder, name) for name in sizes}
    vars(voice_encoder).update(sizes)
    encoder = voice_encoder.VoiceEncoder("cpu", verbose=False, weights_fpath=OUT / "model.pt")
    vars(voice_encoder).update(published)
    spectrograms = 3 * torch.rand(3, 9, 5, generator=generator)
    utterance = 3 * torch.rand(281, 5, generator=generator)
    with torch.no_grad():
        embeddings = encoder(spectrograms)
    utterances = []
    for frames in [100, 197, 198, 281]:
        # The frames of that many samples, continued by silence.
        silence = torch.zeros(160, 5)
        audio.wav_to_mel_spectrogram = lambda _: torch.cat([utterance[:frames], silence]).numpy()
        utterances.append(encoder.embed_utterance(np.zeros(160 * frames - 80, np.float32)))
    arrays = {
        "spectrograms": spectrograms,
        "embeddings": embeddings,
        "utterance": utterance,
        "utterances": torch.tensor(np.array(utterances)),
    }
    save_file(arrays, OUT / "reference.safetensors", metadata=META)
    print(arrays["embeddings"], arrays["utterances"])


def mel(samples):
    """What librosa.feature.melspectrogram of a version from 0.10 gives."""
    bands = mel_filter_bank(201, 40, 0, 8000, 16000, norm="slaney", mel_scale="slaney")
    hann, pad = window_function(400, "hann"), "constant"
    return spectrogram(samples, hann, 400, 160, power=2, pad_mode=pad, mel_filters=bands, mel_floor=0).T.astype(np.float32)


def real(sound):
    with wave.open(str(sound)) as file:
        assert (file.getframerate(), file.getnchannels()) == (16000, 1)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    audio.wav_to_mel_spectrogram = mel
    encoder = voice_encoder.VoiceEncoder("cpu", verbose=False)
    whole, windows, _ = encoder.embed_utterance(samples, return_partials=True)
    middle = len(samples) // 2
    halves = [encoder.embed_utterance(half) for half in [samples[:middle], samples[middle:]]]
    arrays = {"whole": whole, "windows": windows, "halves": np.array(halves)}
    print("similarity of the halves", halves[0] @ halves[1], {n: a.shape for n, a in arrays.items()})
    save_file({name: torch.tensor(array) for name, array in arrays.items()}, OUT / "beckett.safetensors", metadata=META)


def main():
    OUT.mkdir(exist_ok=True)
    tiny()
    if "SOUND" in os.environ:
        real(pathlib.Path(os.environ["SOUND"]))


if __name__ == "__main__":
    main()
