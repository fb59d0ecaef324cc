"""A sound, and its mel spectrograms by librosa and transformers.

The folder `data/audio` has `sound.wav`, 1.2 s of tones and noise with 16 bits and 16,000 samples per
second, and `log_mel.safetensors`:

    power       [frames, 40]    librosa.feature.melspectrogram with `n_fft` 512, `hop_length` 128, 40 bands
    decibels    [frames, 128]   librosa.power_to_db of librosa's defaults for this rate
    whisper     [64, 80]        WhisperFeatureExtractor: the first 126 frames, every second, and the last
    whisper_128 [64, 128]       the same with 128 bands

Needs librosa 0.10.2.post1, transformers 4.44.2 and numpy 1.26.4 on Python 3.10.
"""

import pathlib
import wave

import librosa
import numpy as np
from safetensors.numpy import save_file
from transformers import WhisperFeatureExtractor

OUT = pathlib.Path(__file__).parent / "data" / "audio"
RATE = 16000


def sound():
    rng = np.random.default_rng(7)
    t = np.arange(RATE * 6 // 5) / RATE
    tones = 0.3 * np.sin(2 * np.pi * (300 + 900 * t) * t) + 0.1 * np.sin(2 * np.pi * 5000 * t)
    noise = 0.2 * rng.normal(size=t.size) * (np.sin(2 * np.pi * 2 * t) > 0.5)
    return np.clip(np.round(32767 * (tones * (t < 1) + noise)), -32768, 32767).astype("<i2")


def main():
    OUT.mkdir(exist_ok=True)
    samples = sound()
    with wave.open(str(OUT / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    x = samples.astype(np.float32) / 32768
    arrays = {
        "power": librosa.feature.melspectrogram(y=x, sr=RATE, n_fft=512, hop_length=128, n_mels=40).T,
        "decibels": librosa.power_to_db(librosa.feature.melspectrogram(y=x, sr=RATE)).T,
    }
    frames = [*range(0, 126, 2), 2999]
    for name, bands in [("whisper", 80), ("whisper_128", 128)]:
        features = WhisperFeatureExtractor(feature_size=bands)(x, sampling_rate=RATE).input_features[0]
        assert features.shape == (bands, 3000)
        arrays[name] = features.T[frames]
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    save_file(arrays, OUT / "log_mel.safetensors", metadata={"librosa": librosa.__version__})
    print({name: (array.shape, array.min(), array.max()) for name, array in arrays.items()})


if __name__ == "__main__":
    main()
